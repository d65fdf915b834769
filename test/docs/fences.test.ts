import { execFile, execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { findRepository } from '../fixtures/find-repository.js';
import { tempDir } from '../fixtures/temp-dir.js';
import { snippetsOf } from './snippets-of.js';

const repository = fileURLToPath(findRepository());
const pages = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], {
  cwd: repository,
  encoding: 'utf8',
})
  .trim()
  .split('\n');
const snippets = pages.flatMap((page) =>
  snippetsOf(readFileSync(join(repository, page), 'utf8')).map((snippet, at) => ({ page, at, ...snippet })),
);

test('every fence of the documentation names its language', () => {
  const bare = snippets.filter(({ language }) => language === '');
  expect(bare.map(({ page, text }) => `${page}: ${text.split('\n')[0]}`)).toEqual([]);
});

/** They are not installed here. What is written about them is compiled with their own types by test/peers/frameworks. */
const FRAMEWORKS = ['ai', '@ai-sdk/openai', '@openai/agents'];

test('every TypeScript snippet of the documentation compiles', { timeout: 120_000 }, async () => {
  const folder = await tempDir();
  await symlink(join(repository, 'node_modules'), join(folder, 'node_modules'));
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  await writeFile(join(folder, 'frameworks.d.ts'), FRAMEWORKS.map((name) => `declare module '${name}';\n`).join(''));
  for (const { page, at, file, language, given, text } of snippets) {
    if (language !== 'ts') continue;
    const path = join(folder, file ?? page.replace(/\.md$/, `.${at + 1}.ts`));
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, `${given}${text}\nexport {};\n`);
  }
  const config = {
    extends: join(repository, 'tsconfig.base.json'),
    // A snippet imports what is beside the file it would be in.
    compilerOptions: { noEmit: true, composite: false, incremental: false, rootDirs: [folder, repository] },
    // With what the fixtures add to the types of vitest.
    include: ['**/*.ts', join(repository, 'test/fixtures/global-setup.ts')],
  };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
  expect(await run(join(repository, 'node_modules/.bin/tsc'), ['-p', folder], folder)).toBe('');
});

const run = (command: string, args: string[], cwd: string): Promise<string> =>
  new Promise((resolve) => {
    execFile(command, args, { cwd }, (error, stdout, stderr) =>
      resolve(error ? `${stdout}${stderr}` || String(error) : ''),
    );
  });
