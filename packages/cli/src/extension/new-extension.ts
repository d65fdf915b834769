import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { UsageError } from '../usage-error.js';

const ID = /^[a-z0-9][a-z0-9._-]{0,63}$/;

/** Creates an extension with an example script, ready to be added. Existing files are never overwritten. */
export const newExtension = async (cwd: string, folder: string): Promise<{ id: string; files: string[] }> => {
  const root = resolve(cwd, folder);
  const id = basename(root).toLowerCase();
  if (!ID.test(id))
    throw new UsageError(`${id} cannot be the id of an extension: use a-z, 0-9, dot, dash and underscore`);
  const there = await readdir(root).catch(() => []);
  if (there.length > 0) throw new UsageError(`${folder} is not empty`);
  const files = filesOf(id);
  for (const [path, { content, mode }] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content, { flag: 'wx', mode: mode ?? 0o644 });
  }
  return { id, files: Object.keys(files) };
};

const filesOf = (id: string): Record<string, { content: string; mode?: number }> => ({
  'manifest.json': {
    content: `${JSON.stringify(
      {
        ...{ id, name: id, version: '0.1.0', description: 'What this extension is for' },
        capabilities: [{ type: 'slash_command', name: `/${id}`, description: 'Greets' }],
        permissions_required: ['exec'],
      },
      null,
      2,
    )}\n`,
  },
  'commands/commands.yaml': {
    content: `slash_commands:
  - name: /${id}
    summary: Greets
    examples: ["/${id} greet Ada"]
    actions:
      - id: greet                     # the tool ext:${id}:greet
        description: Greet somebody
        runner: exec.greet            # tools/greet
        argv: ["--", "{{name}}"]      # each input is one argument, never more
        input_schema:
          type: object
          required: [name]
          properties: { name: { type: string } }
          additionalProperties: false
        output: text                  # or json, lines
        risk: LOW
        side_effects: []
        effects:                      # what is not said here counts as dangerous
          network: false
          filesystem: { read: false, write: false, delete: false }
          subprocess: false
          idempotent: true
          reversible: true
          destructive: false
          cost: { billable: false }
        timeout_ms: 5000
`,
  },
  'tools/greet': { content: '#!/bin/sh\n# Called as: greet -- NAME\nprintf \'Hello, %s.\\n\' "$2"\n', mode: 0o755 },
  'docs/USAGE.md': { content: `# ${id}\n\n\`/${id} greet Ada\` greets Ada.\n` },
});
