import { type Descriptor, NO_EFFECTS } from '@capstan/contracts';
import { hashJson } from '@capstan/integrity';
import { beforeEach, describe, expect, test } from 'vitest';
import { putAtipDocument, readAtipDocuments, removeAtipDocument } from '../atip/atip-documents.js';
import { enableExtension, removeExtension } from '../extension/change-extension.js';
import { installExtension, type NewExtension } from '../extension/install-extension.js';
import { readExtension, readExtensionFiles, readUsage } from '../extension/read-extensions.js';
import { openTestStore } from '../testing/open-test-store.js';
import { readTools } from './read-tools.js';
import { replaceTools } from './replace-tools.js';

const store = await openTestStore();
const by = { tenant: 'default', actor: 'ann' };

const tool = (tool_id: string, description = '', origin = 'files'): Descriptor => ({
  tool_id,
  name: tool_id,
  description,
  source: 'mcp',
  origin,
  runner: 'mcp',
  binding: { kind: 'mcp', server: origin, tool: tool_id },
  input_schema: {},
  risk: 'LOW',
  side_effects: [],
  effects: NO_EFFECTS,
  trust: 'user',
  inferred: [],
});
const replace = (...descriptors: Descriptor[]) =>
  replaceTools(store, by, { source: 'mcp', origin: 'files', descriptors });
const audit = () => store.db.selectFrom('audit').select(['event', 'subject', 'detail']).orderBy('seq').execute();
const ids = async () => (await readTools(store)).map(({ tool_id }) => tool_id);

beforeEach(async () => {
  for (const table of ['tools', 'extensions', 'extension_files', 'atip_documents'] as const)
    await store.db.deleteFrom(table).execute();
});

describe('the tools of an origin', () => {
  test('are replaced as a whole, and changes are returned and audited with both hashes', async () => {
    expect(await replace(tool('a'), tool('b'))).toEqual({ added: ['a', 'b'], changed: [], removed: [] });
    expect(await replace(tool('a'), tool('b'))).toEqual({ added: [], changed: [], removed: [] });
    const seen = (await audit()).length;
    expect(await replace(tool('b', 'new words'), tool('c'))).toEqual({ added: ['c'], changed: ['b'], removed: ['a'] });
    expect((await audit()).slice(seen)).toMatchObject([
      {
        event: 'tool.add',
        subject: 'c',
        detail: { descriptor_hash_before: null, descriptor_hash: hashJson(tool('c')) },
      },
      {
        event: 'tool.change',
        subject: 'b',
        detail: { descriptor_hash_before: hashJson(tool('b')), descriptor_hash: hashJson(tool('b', 'new words')) },
      },
      {
        event: 'tool.remove',
        subject: 'a',
        detail: { descriptor_hash_before: hashJson(tool('a')), descriptor_hash: null },
      },
    ]);
    expect(await readTools(store)).toMatchObject([
      {
        tool_id: 'b',
        descriptor: tool('b', 'new words'),
        descriptor_hash: hashJson(tool('b', 'new words')),
        enabled: true,
      },
      { tool_id: 'c' },
    ]);
  });

  test('are removed by an empty list, and those of other origins are not', async () => {
    await replace(tool('a'));
    await replaceTools(store, by, { source: 'mcp', origin: 'web', descriptors: [tool('w', '', 'web')] });
    await replace();
    expect(await ids()).toEqual(['w']);
  });

  test('cannot take the id of a tool of another origin', async () => {
    await replace(tool('a'));
    const other = replaceTools(store, by, { source: 'mcp', origin: 'web', descriptors: [tool('a', 'mine', 'web')] });
    await expect(other).rejects.toThrow('already the id');
    expect(await readTools(store)).toMatchObject([{ tool_id: 'a', origin: 'files' }]);
  });

  test('replaced by ten writers at once are those of one of them', async () => {
    await Promise.all(Array.from({ length: 10 }, (_, n) => replace(tool(`x${n}`), tool('shared', String(n)))));
    const rows = await readTools(store);
    expect(rows).toHaveLength(2);
    expect(rows.map(({ tool_id }) => tool_id)).toContain('shared');
  });
});

const extension = (over: Partial<NewExtension> = {}): NewExtension => ({
  extension_id: 'text.tools',
  manifest: { id: 'text.tools' },
  commands: { slash_commands: [] },
  usage: '# Usage',
  tools_hash: 'sha256:one',
  files: [{ name: 'go', sha256: 'abc', content: new Uint8Array([0, 255, 10]) }],
  descriptors: [{ ...tool('ext:text.tools:go', '', 'text.tools'), source: 'extension' }],
  ...over,
});

describe('an extension', () => {
  test('is stored with its tools, its usage and its executables, byte for byte', async () => {
    await installExtension(store, by, extension());
    expect(await ids()).toEqual(['ext:text.tools:go']);
    expect(await readUsage(store, 'text.tools')).toBe('# Usage');
    expect(await readUsage(store, 'none')).toBeNull();
    expect(await readExtensionFiles(store, 'sha256:one')).toEqual([
      { name: 'go', sha256: 'abc', content: Buffer.from([0, 255, 10]) },
    ]);
  });

  test('that is disabled disables its tools, and stays disabled when it is installed again', async () => {
    await installExtension(store, by, extension());
    expect(await enableExtension(store, by, 'text.tools', false)).toMatchObject({ enabled: false });
    expect(await readTools(store)).toMatchObject([{ enabled: false }]);
    await installExtension(store, by, extension({ usage: 'new' }));
    expect(await readExtension(store.db, 'text.tools')).toMatchObject({ enabled: false, usage: 'new' });
    expect(await readTools(store)).toMatchObject([{ enabled: false }]);
    await enableExtension(store, by, 'text.tools', true);
    expect(await readTools(store)).toMatchObject([{ enabled: true }]);
    expect(await enableExtension(store, by, 'none', true)).toBeUndefined();
  });

  test('that is replaced by another version leaves no files behind', async () => {
    await installExtension(store, by, extension());
    await installExtension(store, by, extension({ tools_hash: 'sha256:two' }));
    expect(await readExtensionFiles(store, 'sha256:one')).toEqual([]);
    expect(await readExtensionFiles(store, 'sha256:two')).toHaveLength(1);
  });

  test('that is removed leaves nothing but audit events', async () => {
    await installExtension(store, by, extension());
    expect(await removeExtension(store, by, 'text.tools')).toBe(true);
    expect(await removeExtension(store, by, 'text.tools')).toBe(false);
    expect(await ids()).toEqual([]);
    expect(await readExtensionFiles(store, 'sha256:one')).toEqual([]);
    expect((await audit()).at(-1)).toMatchObject({ event: 'extension.remove', subject: 'text.tools' });
  });
});

test('an ATIP document is added and removed with its tools', async () => {
  const descriptors = [{ ...tool('atip:gh:.', '', 'gh'), source: 'atip' as const }];
  await putAtipDocument(store, by, { name: 'gh', document: { name: 'gh', version: '1' }, descriptors });
  await putAtipDocument(store, by, { name: 'gh', document: { name: 'gh', version: '2' }, descriptors });
  expect(await readAtipDocuments(store.db)).toMatchObject([{ name: 'gh', document: { version: '2' } }]);
  expect(await ids()).toEqual(['atip:gh:.']);
  expect(await removeAtipDocument(store, by, 'gh')).toBe(true);
  expect(await removeAtipDocument(store, by, 'gh')).toBe(false);
  expect(await ids()).toEqual([]);
});
