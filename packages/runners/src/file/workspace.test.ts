import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { link, mkdir, mkdtemp, readFile, realpath, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { JsonObject, Limits } from '@capstan/contracts';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testCall, testDescriptor } from '../testing/test-call.js';
import { checkedWorkspace } from './checked-workspace.js';
import { createFileRunner } from './create-file-runner.js';
import { linuxWorkspace } from './linux-workspace.js';

const CANARY = 'outside: must never be seen';
const LIMITS = { timeout_ms: 30_000, max_output_bytes: 1_000_000 };

const workspaces = [
  ...(process.platform === 'linux' ? [{ name: 'Linux', openWorkspace: linuxWorkspace }] : []),
  { name: 'any system', openWorkspace: checkedWorkspace },
];

describe.each(workspaces)('the workspace, opened as on $name', ({ openWorkspace }) => {
  let base = '';
  let root = '';
  beforeAll(async () => {
    base = await realpath(await mkdtemp(join(tmpdir(), 'capstan-workspace-')));
    root = join(base, 'root');
    await mkdir(join(root, 'docs/deep'), { recursive: true });
    await mkdir(join(base, 'outside'));
    await writeFile(join(base, 'outside/secret.txt'), CANARY);
    await writeFile(join(base, 'secret.txt'), CANARY);
    await writeFile(join(root, 'docs/a.txt'), 'inside');
    await writeFile(join(root, '.env'), 'KEY=1');
    await writeFile(join(root, 'docs/bytes'), Buffer.from([0xff, 0x00, 0xfe]));
    await symlink('docs/a.txt', join(root, 'to-file'));
    await symlink('docs', join(root, 'to-folder'));
    await symlink(join(root, 'docs'), join(root, 'to-folder-absolute'));
    await symlink('../../docs/a.txt', join(root, 'docs/deep/up'));
    await symlink('.env', join(root, 'to-hidden'));
    await symlink('../secret.txt', join(root, 'out-file'));
    await symlink(join(base, 'outside'), join(root, 'out-folder'));
    await symlink('/etc/passwd', join(root, 'out-absolute'));
    await symlink('loop', join(root, 'loop'));
  });
  afterAll(() => rm(base, { recursive: true }));

  const run = async (tool_id: string, inputs: JsonObject, limits: Partial<Limits> = {}, tenant = 'default') =>
    createFileRunner({ workspace: root, openWorkspace }).run(
      testCall(testDescriptor({ tool_id, runner: 'file' }), { inputs, tenant, limits: { ...LIMITS, ...limits } }),
    );
  const read = (path: string, limits?: Partial<Limits>) => run('fs.read', { path }, limits);
  const write = (path: string, content: string, limits?: Partial<Limits>) => run('fs.write', { path, content }, limits);
  const refused = (rule_matched: string) => ({
    success: false,
    kind: 'PATH_DENIED',
    error: expect.stringContaining(rule_matched),
    payload: { rule_matched },
  });

  test.each([
    'docs/a.txt',
    './docs//a.txt',
    'docs/./deep/../a.txt',
    'to-file',
    'to-folder/a.txt',
    'to-folder-absolute/a.txt',
    'docs/deep/up',
  ])('reads %s, which is inside, and reports the real path', async (path) => {
    expect(await read(path)).toMatchObject({
      success: true,
      payload: { path: 'docs/a.txt', content: 'inside', encoding: 'text', size_bytes: 6 },
      facts: { observed: { files_read: ['docs/a.txt'] } },
    });
  });

  test('reads by an absolute path inside, and bytes as base64', async () => {
    expect(await read(join(root, 'docs/a.txt'))).toMatchObject({ success: true });
    expect(await read('docs/bytes')).toMatchObject({ payload: { content: '/wD+', encoding: 'base64' } });
    expect(await read(join(base, 'secret.txt'))).toMatchObject(refused('path_escape'));
  });

  test.each(['out-file', 'out-folder/secret.txt', 'out-absolute', 'to-folder/../../out-file', 'docs/../out-file'])(
    'refuses %s, which leads out through a link',
    async (path) => {
      const outcome = await read(path);
      expect(outcome).toMatchObject({ success: false, kind: 'PATH_DENIED' });
      expect(JSON.stringify(outcome)).not.toContain(CANARY);
    },
  );

  test('writes neither through a link that leads outside nor in its place', async () => {
    expect(await write('out-file', 'x')).toMatchObject(refused('symlink_escape'));
    expect(await write('out-folder/new.txt', 'x')).toMatchObject(refused('symlink_escape'));
    expect(await write('../new.txt', 'x')).toMatchObject(refused('path_escape'));
    expect(await readFile(join(base, 'secret.txt'), 'utf8')).toBe(CANARY);
    expect(existsSync(join(base, 'outside/new.txt'))).toBe(false);
    expect(existsSync(join(base, 'new.txt'))).toBe(false);
  });

  test('creates parent folders, replaces files, and leaves no temporary files', async () => {
    expect(await write('made/for/it.txt', 'one')).toMatchObject({
      payload: { path: 'made/for/it.txt', created: true },
    });
    expect(await write('made/for/it.txt', 'two')).toMatchObject({
      payload: { created: false, size_bytes: 3 },
      facts: { observed: { files_written: ['made/for/it.txt'] } },
    });
    expect(await write('to-folder/linked.txt', 'three')).toMatchObject({ payload: { path: 'docs/linked.txt' } });
    expect(await readFile(join(root, 'made/for/it.txt'), 'utf8')).toBe('two');
    expect(readdirSync(join(root, 'made/for'))).toEqual(['it.txt']);
  });

  test('applies the policy to the real path', async () => {
    const limits = { allow_paths: ['./docs/**'], deny_paths: ['**/b.txt'] };
    expect(await read('docs/a.txt', limits)).toMatchObject({ success: true });
    expect(await read('to-file', limits)).toMatchObject({ success: true });
    expect(await write('docs/b.txt', 'x', limits)).toMatchObject(refused('deny_paths[**/b.txt]'));
    expect(await write('elsewhere/c.txt', 'x', limits)).toMatchObject(refused('allow_paths'));
    expect(await write('only/here.txt', 'x', { allow_paths: ['only/*.txt'] })).toMatchObject({ success: true });
    // A link in what one policy allows, to what only the other one does.
    expect(await read('to-file', { allow_paths: ['**'], also_allow_paths: [['to-*']] })).toMatchObject(
      refused('allow_paths'),
    );
    expect(await read('to-file', { allow_paths: ['**'], also_allow_paths: [['docs/*']] })).toMatchObject({
      success: true,
    });
    expect(existsSync(join(root, 'elsewhere'))).toBe(false);
    expect(await read('.env')).toMatchObject(refused('allow_hidden'));
    expect(await read('to-hidden')).toMatchObject(refused('allow_hidden'));
    expect(await read('.env', { allow_hidden: true })).toMatchObject({ success: true });
    expect(await read('docs/a.txt', { max_size_bytes: 5 })).toMatchObject(refused('max_size_bytes'));
    expect(await write('docs/c.txt', '123456', { max_size_bytes: 5 })).toMatchObject(refused('max_size_bytes'));
    expect(await read('docs/a.txt', { max_output_bytes: 3 })).toMatchObject({
      truncated: true,
      payload: { content: 'ins' },
    });
  });

  test.each([
    ['nowhere.txt', 'does not exist'],
    ['docs', 'not a file|is a folder'],
    ['docs/a.txt/b', 'where a folder should be|not a file'],
    ['x'.repeat(300), 'too long'],
    ['loop', 'links|loop|POLICY'],
    ['', 'path'],
    ['\u0000', 'path'],
    ['.', 'folder|not a file'],
  ])('says in words why it cannot read %j', async (path, words) => {
    const outcome = await read(path).catch((error: Error) => ({ success: false, error: error.message }));
    expect(outcome).toMatchObject({ success: false, error: expect.stringMatching(new RegExp(words, 'i')) });
  });

  test('separates tenants', async () => {
    const theirs = await run('fs.read', { path: 'docs/a.txt' }, {}, 'acme');
    expect(theirs).toMatchObject({ success: false, error: expect.stringContaining('does not exist') });
    await run('fs.write', { path: 'docs/a.txt', content: 'theirs' }, {}, 'acme');
    expect(await readFile(join(root, 'docs/a.txt'), 'utf8')).toBe('inside');
    expect(await read('../root.acme/docs/a.txt')).toMatchObject(refused('path_escape'));
  });

  const corpus = new URL('../../../../../shared/corpora/path-traversal/', import.meta.url);
  const lines = existsSync(corpus)
    ? readdirSync(corpus).flatMap((file) => readFileSync(new URL(file, corpus), 'utf8').split(/\r?\n/))
    : [];
  test.skipIf(lines.length === 0)('opens and writes nothing outside for any known path attack', async () => {
    const before = await stat(join(base, 'secret.txt'));
    const paths = lines.filter(Boolean).map((line) => line.replaceAll('{FILE}', 'secret.txt'));
    const attempt = async (path: string) => {
      const seen = [await read(path), await read(`docs/${path}`), await write(path, 'escaped')];
      expect(JSON.stringify(seen)).not.toContain(CANARY);
      expect(JSON.stringify(seen)).not.toContain('root:');
    };
    for (let at = 0; at < paths.length; at += 50) await Promise.all(paths.slice(at, at + 50).map(attempt));
    expect(await readFile(join(base, 'secret.txt'), 'utf8')).toBe(CANARY);
    expect((await stat(join(base, 'secret.txt'))).mtimeMs).toBe(before.mtimeMs);
    expect(readdirSync(base).sort()).toEqual(['outside', 'root', 'root.acme', 'secret.txt']);
  });

  test.skipIf(process.platform === 'win32')('a pipe is refused at once, and does not block the call', async () => {
    await execa('mkfifo', [join(root, 'pipe')]);
    if (openWorkspace === linuxWorkspace) expect(await read('pipe')).toMatchObject({ success: false });
    await rm(join(root, 'pipe'));
  });

  test('a second link to a file inside is accepted', async () => {
    await link(join(root, 'docs/a.txt'), join(root, 'docs/second.txt'));
    expect(await read('docs/second.txt')).toMatchObject({ payload: { content: 'inside' } });
  });
});

const TRIES = 10_000;

describe.runIf(process.platform === 'linux')('a process that keeps replacing a folder by a link', () => {
  test(`cannot read or write anything outside in ${TRIES} tries`, async () => {
    const base = await realpath(await mkdtemp(join(tmpdir(), 'capstan-race-')));
    const root = join(base, 'root');
    await mkdir(join(root, 'real'), { recursive: true });
    await mkdir(join(base, 'outside'));
    await writeFile(join(root, 'real/f.txt'), 'inside');
    await writeFile(join(base, 'outside/f.txt'), CANARY);
    await symlink(join(base, 'outside'), join(root, 'link'));
    await rename(join(root, 'real'), join(root, 'swap'));
    let failed: unknown = null;
    // In a separate thread, as fast as the disk allows: folder, link, folder, link …
    const swapper = new Worker(
      `const { renameSync, rmSync } = require('node:fs');
       const { workerData: root } = require('node:worker_threads');
       // A write may have made a folder there in between.
       const put = (from) => {
         for (;;) try { return renameSync(root + from, root + '/swap'); } catch { try { rmSync(root + '/swap', { recursive: true, force: true }); } catch {} }
       };
       for (;;) {
         renameSync(root + '/swap', root + '/real');
         put('/link');
         renameSync(root + '/swap', root + '/link');
         put('/real');
       }`,
      { eval: true, workerData: root },
    );
    swapper.on('error', (error) => {
      failed = error;
    });
    const runner = createFileRunner({ workspace: root });
    const call = (tool_id: string, inputs: JsonObject) =>
      runner.run(testCall(testDescriptor({ tool_id, runner: 'file' }), { tenant: 'default', inputs, limits: LIMITS }));
    const met = { inside: 0, refused: 0, absent: 0 };
    try {
      for (let left = TRIES; left > 0; left -= 20) {
        const outcomes = await Promise.all(
          Array.from({ length: 20 }, (_, at) =>
            at % 10 === 0
              ? call('fs.write', { path: 'swap/w.txt', content: 'escaped' })
              : call('fs.read', { path: 'swap/f.txt' }),
          ),
        );
        for (const outcome of outcomes) {
          expect(JSON.stringify(outcome)).not.toContain(CANARY);
          if (outcome.success) met.inside += 1;
          else if (outcome.error.includes('symlink_escape')) met.refused += 1;
          else met.absent += 1;
        }
      }
    } finally {
      await swapper.terminate();
    }
    expect(readdirSync(join(base, 'outside'))).toEqual(['f.txt']);
    expect(await readFile(join(base, 'outside/f.txt'), 'utf8')).toBe(CANARY);
    expect(failed).toBeNull();
    // Both sides of the race were met, or nothing was tested.
    expect(Math.min(met.inside, met.refused)).toBeGreaterThan(0);
    await rm(base, { recursive: true });
  });
});
