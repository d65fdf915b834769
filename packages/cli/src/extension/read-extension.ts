import { readdir, readFile } from 'node:fs/promises';
import { basename, join, relative, resolve, sep } from 'node:path';
import type { NewExtension } from '@capstan/contracts';
import { cannotRead } from '../cannot-read.js';
import { UsageError } from '../usage-error.js';

/** Reads an extension from a local folder, to be sent whole: the gateway may be on another machine. The gateway validates it. */
export const readExtension = async (cwd: string, folder: string): Promise<NewExtension> => {
  const root = resolve(cwd, folder);
  const manifest = await readText(root, 'manifest.json');
  const commands = (await readText(root, 'commands/commands.yaml')) ?? (await readText(root, 'commands.yaml'));
  if (manifest === null)
    throw new UsageError(
      `${folder} has no manifest.json, so it is not an extension`,
      'Name the folder of an extension, or create one: capstan extension init <name>.',
    );
  if (commands === null) throw new UsageError(`${folder} has no commands/commands.yaml`);
  const usage = await readText(root, 'docs/USAGE.md');
  const tools = Object.fromEntries([...(await readTools(root)), ...(await readScripts(root, commands))]);
  return { manifest, commands, usage, ...(Object.keys(tools).length > 0 ? { tools } : {}) };
};

type Tool = [name: string, base64: string];

/** The files below `tools/`: executables and the files they need. */
const readTools = async (root: string): Promise<Tool[]> => {
  const tools = join(root, 'tools');
  const entries = await readdir(tools, { withFileTypes: true, recursive: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Promise.all(
    files.map(
      async (file): Promise<Tool> => [relative(tools, file).split(sep).join('/'), await readFile(file, 'base64')],
    ),
  );
};

/** Scripts that a command names as its entrypoint, in AgentOS' earlier format. */
const readScripts = async (root: string, commands: string): Promise<Tool[]> => {
  const paths = [...commands.matchAll(/^\s*(?:- )?entrypoint:\s*["']?([\w./-]+)["']?\s*$/gm)].flatMap(
    ([, path]) => path ?? [],
  );
  return Promise.all(
    paths.map(async (path): Promise<Tool> => {
      if (path.split('/').includes('..') || path.startsWith('/'))
        throw new UsageError(`${path} lies outside of ${root}`);
      return [basename(path), await readFile(join(root, path), 'base64').catch(() => fail(path))];
    }),
  );
};

const fail = (path: string): never => {
  throw new UsageError(`cannot read ${path}, which commands.yaml names as an entrypoint`);
};

const readText = (root: string, path: string): Promise<string | null> =>
  readFile(join(root, path), 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return null;
    throw cannotRead(path, error);
  });
