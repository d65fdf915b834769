import { type LiveCatalog, openCatalog } from '@capstan/backbone';
import { type Descriptor, NO_EFFECTS } from '@capstan/contracts';
import { hashJson } from '@capstan/integrity';
import { createRelay, type Relay } from '@capstan/queue';
import { openStore } from '@capstan/store';
import { PostgresSignals } from '@capstan/store/signal';
import { replaceTools } from '@capstan/store/tool';
import { expect, test } from 'vitest';
import { atEnd } from '../fixtures/at-end.js';
import { createTestDatabase } from '../fixtures/create-test-database.js';
import { eventually } from '../fixtures/eventually.js';

const by = { tenant: 'default', actor: 'ann' };
const { url } = await createTestDatabase();

const tool = (name: string, description = ''): Descriptor => ({
  tool_id: `mcp:files:${name}`,
  name,
  description,
  source: 'mcp',
  origin: 'files',
  runner: 'mcp',
  binding: { kind: 'mcp', server: 'files', tool: name },
  input_schema: { properties: { a: { type: 'string' } } },
  risk: 'LOW',
  side_effects: [],
  effects: NO_EFFECTS,
  trust: 'user',
  inferred: [],
});

/** A separate process, as far as the catalog can tell. */
const openProcess = async () => {
  const store = openStore({ url, name: 'test' });
  const ignore = () => {};
  const relay: Relay = createRelay(new PostgresSignals(store, ignore), { max_message_bytes: 7900, onError: ignore });
  const catalog: LiveCatalog = await openCatalog(store, relay);
  atEnd(async () => {
    catalog.close();
    await relay.close();
    await store.close();
  });
  return { store, relay, catalog };
};
const one = await openProcess();
const other = await openProcess();
const put = (...descriptors: Descriptor[]) =>
  replaceTools(one.store, by, { source: 'mcp', origin: 'files', descriptors });

test('a tool that one process adds is known to the others after the refresh signal', async () => {
  await put(tool('read'));
  expect(other.catalog.get('mcp:files:read')).toBeUndefined();
  one.relay.publish('refresh', ['tools']);
  const entry = await eventually(() => other.catalog.get('mcp:files:read') ?? false);
  expect(entry).toMatchObject({ descriptor_hash: hashJson(tool('read')) });
  expect(other.catalog.sources()).toContainEqual({
    source: 'mcp',
    origin: 'files',
    status: 'ok',
    tools: 1,
    error: null,
  });
});

test('a refresh keeps the compiled entry of a tool that has not changed', async () => {
  const before = other.catalog.get('mcp:files:read');
  await put(tool('read'), tool('write'));
  await other.catalog.refresh();
  expect(other.catalog.get('mcp:files:read')).toBe(before);
  await put(tool('read', 'other words'), tool('write'));
  await other.catalog.refresh();
  expect(other.catalog.get('mcp:files:read')).not.toBe(before);
});

test('find reads a new or changed tool from Postgres before the signal has arrived', async () => {
  await put(tool('read'), tool('fresh'));
  expect(await other.catalog.find('mcp:files:fresh', hashJson(tool('fresh')))).toMatchObject({
    descriptor: { name: 'fresh' },
  });
  await put(tool('read'), tool('fresh', 'changed'));
  const wanted = hashJson(tool('fresh', 'changed'));
  expect(await other.catalog.find('mcp:files:fresh', wanted)).toMatchObject({ descriptor_hash: wanted });
  const gone = hashJson(tool('fresh'));
  expect(await other.catalog.find('mcp:files:fresh', gone)).toMatchObject({ descriptor_hash: wanted });
  expect(await other.catalog.find('mcp:files:none', gone)).toBeUndefined();
});

test('a row whose descriptor is invalid or does not match its hash is reported, and the other tools are kept', async () => {
  await put(tool('read'), tool('forged'), tool('broken'));
  const { db } = one.store;
  const forged = JSON.stringify({ ...tool('forged'), risk: 'LOW', description: 'trust me' });
  await db.updateTable('tools').set({ descriptor: forged }).where('tool_id', '=', 'mcp:files:forged').execute();
  await db
    .updateTable('tools')
    .set({ descriptor: '[]', descriptor_hash: 'x' })
    .where('tool_id', '=', 'mcp:files:broken')
    .execute();
  const fresh = await openProcess();
  expect(fresh.catalog.get('mcp:files:read')).toBeDefined();
  expect(fresh.catalog.get('mcp:files:forged')).toBeUndefined();
  expect(fresh.catalog.get('mcp:files:broken')).toBeUndefined();
  expect(fresh.catalog.get('cap:test_math:add')).toBeDefined();
  expect(fresh.catalog.sources().find(({ origin }) => origin === 'files')).toMatchObject({ status: 'error', tools: 1 });
});

test('a row cannot replace a native tool', async () => {
  await replaceTools(one.store, by, {
    source: 'mcp',
    origin: 'evil',
    descriptors: [{ ...tool('x'), tool_id: 'shell.run', risk: 'LOW' }],
  });
  await other.catalog.refresh();
  expect(other.catalog.get('shell.run')?.descriptor.risk).toBe('HIGH');
  expect(other.catalog.sources()).toContainEqual(expect.objectContaining({ origin: 'evil', status: 'error' }));
});

test('a process without Postgres starts with its native tools, and keeps them after a failed refresh', async () => {
  const store = openStore({ url: 'postgres://nobody@127.0.0.1:1/none', name: 'test' });
  const catalog = await openCatalog(store, one.relay);
  atEnd(async () => {
    catalog.close();
    await store.close();
  });
  expect(catalog.get('cap:test_math:add')).toBeDefined();
  await expect(catalog.refresh()).rejects.toThrow();
  expect(catalog.get('cap:test_math:add')).toBeDefined();
});
