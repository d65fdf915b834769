import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, test } from 'vitest';
import { createTestDatabase } from '../fixtures/create-test-database.js';
import { findRepository } from '../fixtures/find-repository.js';
import { spawnCapstan } from '../fixtures/spawn-capstan.js';
import { tempDir } from '../fixtures/temp-dir.js';
import { type Snippet, snippetsOf } from './snippets-of.js';

const repository = fileURLToPath(findRepository());
const KEY = 'cap_key-of-the-documentation';

/** In this order; then every other guide that has snippets for a shell. */
const FIRST = [
  'README.md',
  'docs/quickstart.md',
  'docs/guides/models.md',
  'docs/guides/policies.md',
  'docs/guides/plans.md',
  'docs/guides/schedules-and-webhooks.md',
  'docs/guides/multi-tenant.md',
];
const guides = readdirSync(join(repository, 'docs/guides'))
  .map((name) => `docs/guides/${name}`)
  .filter((page) => /^```sh$/m.test(readFileSync(join(repository, page), 'utf8')));
const PAGES = [...FIRST, ...guides.filter((page) => !FIRST.includes(page))];

const run = promisify(execFile);

/** A folder in which `npx capstan` is the command of this repository, beside a running installation. */
async function freshInstallation() {
  const cwd = await tempDir();
  const { url: DATABASE_URL } = await createTestDatabase();
  const capstan = await spawnCapstan(
    ['up'],
    { DATABASE_URL, CAPSTAN_PORT: '0', CAPSTAN_API_KEY: KEY, CAPSTAN_DATA_DIR: join(cwd, '.capstan') },
    { cwd },
  );
  const [, url = ''] = await capstan.waitForLine(/is up at (\S+)/);
  const bin = join(cwd, 'bin');
  await mkdir(bin);
  // Denied (3) and held (4) are answers that the pages show.
  const command = `node ${repository}packages/cli/bin/capstan.js "$@"\ncode=$?\n[ $code = 3 ] || [ $code = 4 ] || exit $code\n`;
  await writeFile(join(bin, 'npx'), `#!/bin/sh\nshift\n${command}`);
  await writeFile(join(bin, 'capstan'), `#!/bin/sh\n${command}`);
  for (const name of ['npx', 'capstan']) await chmod(join(bin, name), 0o755);
  await mkdir(join(cwd, '.capstan'), { recursive: true });
  await writeFile(join(cwd, '.capstan', 'admin.key'), KEY);
  await symlink(join(repository, 'packages'), join(cwd, 'packages'));
  const env = { PATH: `${bin}:${process.env.PATH}`, HOME: cwd, CAPSTAN_URL: url, CAPSTAN_API_KEY: KEY, DATABASE_URL };
  return async ({ language, file, text }: Snippet) => {
    if (file !== undefined) await writeFile(join(cwd, file), text);
    if (language !== 'sh') return;
    // Installing and starting is what npm-start.test.ts does.
    const script = text.replaceAll(/^npm .*$/gm, '').replaceAll('http://127.0.0.1:7070', url);
    await run('sh', ['-e', '-c', script], { cwd, env, timeout: 60_000 });
  };
}

let runSnippet: Awaited<ReturnType<typeof freshInstallation>>;
beforeAll(async () => {
  runSnippet = await freshInstallation();
});

describe('on a fresh installation, one page after the other', () => {
  test.each(PAGES)('the shell snippets of %s work', async (page) => {
    for (const snippet of snippetsOf(await readFile(join(repository, page), 'utf8')))
      if (snippet.isRun) await runSnippet(snippet);
  });
});
