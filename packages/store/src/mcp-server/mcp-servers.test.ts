import { type Descriptor, NO_EFFECTS } from '@capstan/contracts';
import { beforeAll, expect, test } from 'vitest';
import type { Store } from '../open-store.js';
import { openTestStore } from '../testing/open-test-store.js';
import { readTools } from '../tool/read-tools.js';
import { claimMcpServer, claimStaleMcpServers, markMcpServerStale, recordMcpDiscovery } from './mcp-discovery.js';
import { addMcpServer, changeMcpServer, getMcpServer, listMcpServers, removeMcpServer } from './mcp-servers.js';

const ANN = { tenant: 'default', actor: 'ann' };
const config = (name: string) => ({ name, command: 'node', env: { TOKEN: 'very-secret-value' } });
const tool = (server: string, name: string): Descriptor => ({
  tool_id: `mcp:${server}:${name}`,
  name,
  description: '',
  source: 'mcp',
  origin: server,
  runner: 'mcp',
  binding: { kind: 'mcp', server, tool: name },
  input_schema: {},
  risk: 'LOW',
  side_effects: [],
  effects: NO_EFFECTS,
  trust: 'org',
  inferred: [],
});

let store: Store;
beforeAll(async () => {
  store = await openTestStore();
});

const claim = async (name: string) => {
  const claimed = await claimMcpServer(store, name);
  if (!claimed) throw new Error(`${name} was not claimed`);
  return claimed;
};
const toolsOf = async (server: string) =>
  (await readTools(store)).filter(({ origin }) => origin === server).map(({ tool_id }) => tool_id);

test('a name is taken once', async () => {
  expect(await addMcpServer(store, ANN, config('one'))).toMatchObject({
    name: 'one',
    enabled: true,
    stale: true,
    tools: 0,
  });
  expect(await addMcpServer(store, ANN, config('one'))).toBeUndefined();
  expect((await listMcpServers(store.db)).map(({ name }) => name)).toContain('one');
});

test('what was found becomes its tools, and replaces those it had', async () => {
  await addMcpServer(store, ANN, config('found'));
  await recordMcpDiscovery(store, ANN, await claim('found'), { descriptors: [tool('found', 'a'), tool('found', 'b')] });
  await recordMcpDiscovery(store, ANN, await claim('found'), { descriptors: [tool('found', 'b'), tool('found', 'c')] });
  expect(await toolsOf('found')).toEqual(['mcp:found:b', 'mcp:found:c']);
  expect(await getMcpServer(store.db, 'found')).toMatchObject({ tools: 2, stale: false, error: null });
});

test('a server that fails says why, and keeps the tools it had', async () => {
  await addMcpServer(store, ANN, config('failing'));
  await recordMcpDiscovery(store, ANN, await claim('failing'), { descriptors: [tool('failing', 'a')] });
  await recordMcpDiscovery(store, ANN, await claim('failing'), { error: 'no route' });
  expect(await getMcpServer(store.db, 'failing')).toMatchObject({
    error: 'no route',
    failures: 1,
    stale: true,
    tools: 1,
  });
  expect(await toolsOf('failing')).toEqual(['mcp:failing:a']);
});

test('what was found out about an older configuration is not recorded', async () => {
  await addMcpServer(store, ANN, config('changed'));
  const old = await claim('changed');
  await changeMcpServer(store, ANN, { ...config('changed'), command: 'python3' });
  expect(await recordMcpDiscovery(store, ANN, old, { descriptors: [tool('changed', 'a')] })).toBeNull();
  expect(await toolsOf('changed')).toEqual([]);
});

test('disabling or removing a server takes its tools along', async () => {
  await addMcpServer(store, ANN, config('gone'));
  await recordMcpDiscovery(store, ANN, await claim('gone'), { descriptors: [tool('gone', 'a')] });
  await changeMcpServer(store, ANN, { ...config('gone'), enabled: false });
  expect(await toolsOf('gone')).toEqual([]);
  expect(await claimMcpServer(store, 'gone')).toBeUndefined();
  expect(await markMcpServerStale(store, 'gone')).toBe(false);
  expect(await removeMcpServer(store, ANN, 'gone')).toBe(true);
  expect(await removeMcpServer(store, ANN, 'gone')).toBe(false);
});

test('what a server says while it is looked at is not forgotten with that look', async () => {
  await addMcpServer(store, ANN, config('talking'));
  const claimed = await claim('talking');
  await markMcpServerStale(store, 'talking');
  await recordMcpDiscovery(store, ANN, claimed, { descriptors: [] });
  expect(await getMcpServer(store.db, 'talking')).toMatchObject({ stale: true, error: null });
  await recordMcpDiscovery(store, ANN, await claim('talking'), { descriptors: [] });
  expect(await getMcpServer(store.db, 'talking')).toMatchObject({ stale: false });
});

test('a stale server is claimed by one of all who ask, and not again for a while', async () => {
  await addMcpServer(store, ANN, config('stale'));
  await recordMcpDiscovery(store, ANN, await claim('stale'), { descriptors: [] });
  await markMcpServerStale(store, 'stale');
  const names = async (every_ms: number) => (await claimStaleMcpServers(store, every_ms)).map(({ name }) => name);
  expect(await names(60_000)).not.toContain('stale');
  const claims = await Promise.all([names(0), names(0), names(60_000)]);
  expect(claims.flat().filter((name) => name === 'stale').length).toBeGreaterThanOrEqual(1);
  expect(await names(60_000)).not.toContain('stale');
});

test('the audit says what was done and to what, without the values', async () => {
  const events = await store.db
    .selectFrom('audit')
    .select(['event', 'subject', 'detail'])
    .where('subject', '=', 'one')
    .execute();
  expect(events).toMatchObject([{ event: 'mcp_server.add', detail: { command: 'node', variables: ['TOKEN'] } }]);
  expect(JSON.stringify(events)).not.toContain('very-secret-value');
});
