import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { hashJson } from '@capstan/integrity';
import { openStore } from '@capstan/store';
import { installExtension } from '@capstan/store/extension';
import { createExtensionTools } from '@capstan/worker';
import { beforeAll, expect, test } from 'vitest';
import { atEnd } from '../fixtures/at-end.js';
import { createTestDatabase } from '../fixtures/create-test-database.js';
import { tempDir } from '../fixtures/temp-dir.js';

const run = promisify(execFile);
const content = Buffer.from('#!/bin/sh\necho "hello $1"\n');
const sha256 = createHash('sha256').update(content).digest('hex');
const tools_hash = hashJson({ hello: sha256 });

const { url } = await createTestDatabase();
const store = openStore({ url, name: 'test' });
atEnd(() => store.close());
const cache = await tempDir();

beforeAll(async () => {
  await installExtension(
    store,
    { tenant: 'default', actor: 'ann' },
    {
      extension_id: 'hello',
      manifest: { id: 'hello' },
      commands: {},
      usage: null,
      tools_hash,
      files: [{ name: 'hello', sha256, content }],
      descriptors: [],
    },
  );
});

test('an extension’s executables are written to disk once for all workers, and are read-only', async () => {
  const workers = [createExtensionTools(store, cache), createExtensionTools(store, cache)];
  const folders = await Promise.all(workers.flatMap((tools) => [tools(tools_hash), tools(tools_hash)]));
  const [folder = ''] = folders;
  expect(new Set(folders).size).toBe(1);
  expect(await readdir(cache)).toHaveLength(1);
  const { stdout } = await run(join(folder, 'hello'), ['there; id']);
  expect(stdout).toBe('hello there; id\n');
  expect((await stat(join(folder, 'hello'))).mode & 0o222).toBe(0);
  expect((await stat(folder)).mode & 0o222).toBe(0);
});

test('executables are refused if their hash is not installed or not a hash at all', async () => {
  const tools = createExtensionTools(store, cache);
  await expect(tools(`sha256:${'0'.repeat(64)}`)).rejects.toThrow('there are no executables');
  await expect(tools('../../etc')).rejects.toThrow('there are no executables');
});

test('executables whose content does not match their hash are refused', async () => {
  await store.db
    .updateTable('extension_files')
    .set({ content: Buffer.from('#!/bin/sh\nid\n') })
    .execute();
  const elsewhere = await tempDir();
  await expect(createExtensionTools(store, elsewhere)(tools_hash)).rejects.toThrow('do not match the installed ones');
  expect(await readdir(elsewhere)).toEqual([]);
});
