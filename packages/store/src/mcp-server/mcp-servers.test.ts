import { ALL_EFFECTS, type Descriptor, NO_EFFECTS } from '@capstan/contracts';
import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import type { Store } from '../open-store.js';
import { parseSecretKeys } from '../secret/secret-keys.js';
import { openTestStore } from '../testing/open-test-store.js';
import { readTools } from '../tool/read-tools.js';
import { openMcpLogin, putMcpCredentials, readMcpCredentials, takeMcpLogin } from './mcp-credentials.js';
import { claimMcpServer, claimStaleMcpServers, markMcpServerStale, recordMcpDiscovery } from './mcp-discovery.js';
import { acceptChangedTools, listChangedTools } from './mcp-pins.js';
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

test('a name can be used only once', async () => {
  expect(await addMcpServer(store, ANN, config('one'))).toMatchObject({
    name: 'one',
    enabled: true,
    stale: true,
    tools: 0,
  });
  expect(await addMcpServer(store, ANN, config('one'))).toBeUndefined();
  expect((await listMcpServers(store.db)).map(({ name }) => name)).toContain('one');
});

test('discovered tools replace the earlier ones', async () => {
  await addMcpServer(store, ANN, config('found'));
  await recordMcpDiscovery(store, ANN, await claim('found'), { descriptors: [tool('found', 'a'), tool('found', 'b')] });
  await recordMcpDiscovery(store, ANN, await claim('found'), { descriptors: [tool('found', 'b'), tool('found', 'c')] });
  expect(await toolsOf('found')).toEqual(['mcp:found:b', 'mcp:found:c']);
  expect(await getMcpServer(store.db, 'found')).toMatchObject({ tools: 2, stale: false, error: null });
});

test('a tool keeps the effects that it was taken with until somebody has accepted the new ones', async () => {
  await addMcpServer(store, ANN, config('hints'));
  const risky: Descriptor = { ...tool('hints', 'act'), risk: 'HIGH', effects: ALL_EFFECTS };
  const find = async (descriptor: Descriptor) => {
    await recordMcpDiscovery(store, ANN, await claim('hints'), { descriptors: [descriptor] });
    return (await readTools(store)).find(({ tool_id }) => tool_id === descriptor.tool_id)?.descriptor;
  };
  expect(await find(risky)).toEqual(risky);
  const harmless = tool('hints', 'act');
  const fields = ['risk', 'effects'];
  expect(await find(harmless)).toEqual({ ...risky, changed: { fields, hash: expect.stringContaining('sha256:') } });
  const between: Descriptor = { ...harmless, risk: 'MED' };
  expect(await find(between)).toMatchObject({ changed: { fields } });
  expect(await listChangedTools(store.db, 'hints')).toMatchObject([{ before: risky, after: between }]);
  const [reviewed] = await listChangedTools(store.db, 'hints');
  expect(await find({ ...between, description: 'changed after the review' })).toHaveProperty('changed');
  expect(await acceptChangedTools(store, ANN, 'hints', { found_until: reviewed?.found_at })).toEqual([]);
  await find(between);
  const [again] = await listChangedTools(store.db, 'hints');
  expect(await acceptChangedTools(store, ANN, 'hints', { found_until: again?.found_at })).toEqual(['mcp:hints:act']);
  expect(await find(between)).toEqual(between);
});

test('a server that was disabled for a while has its changed tools reviewed, one with another program is taken as it is', async () => {
  await addMcpServer(store, ANN, config('paused'));
  const find = async (description: string) => {
    const descriptors = [{ ...tool('paused', 'act'), description }];
    await recordMcpDiscovery(store, ANN, await claim('paused'), { descriptors });
    return (await readTools(store)).find(({ tool_id }) => tool_id === 'mcp:paused:act')?.descriptor;
  };
  await find('first');
  await changeMcpServer(store, ANN, { ...config('paused'), enabled: false });
  await changeMcpServer(store, ANN, { ...config('paused'), timeout_ms: 5000, tools: { allow: ['a*'] } });
  expect(await find('second')).toMatchObject({ description: 'first', changed: { fields: ['description'] } });
  await changeMcpServer(store, ANN, { ...config('paused'), args: ['another.js'] });
  const taken = await find('second');
  expect(taken).toMatchObject({ description: 'second' });
  expect(taken).not.toHaveProperty('changed');
});

test('a failing server reports why, and keeps its tools', async () => {
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

test('a server over HTTP is discovered again after the lifetime of its lists, a program is not', async () => {
  const listing = {
    ...{ protocol_version: null, instructions: null, completions: false, subscribe: false, ttl_ms: 600_000 },
    ...{ prompts: [], resources: [], resource_templates: [] },
  };
  await addMcpServer(store, ANN, { name: 'brief', url: 'http://127.0.0.1:9/mcp' });
  await addMcpServer(store, ANN, config('lasting'));
  for (const name of ['brief', 'lasting'])
    await recordMcpDiscovery(store, ANN, await claim(name), { descriptors: [], listing });
  const dueAfter = async (minutes: number) => {
    await sql`UPDATE mcp_servers SET discovered_at = now() - ${minutes} * interval '1 minute',
      attempted_at = now() - ${minutes} * interval '1 minute' WHERE name IN ('brief', 'lasting')`.execute(store.db);
    const due = (await claimStaleMcpServers(store, 1)).map(({ name }) => name);
    return due.filter((name) => name === 'brief' || name === 'lasting');
  };
  expect(await dueAfter(9)).toEqual([]);
  expect(await dueAfter(11)).toEqual(['brief']);
});

test('a discovery of an older configuration is not recorded', async () => {
  await addMcpServer(store, ANN, config('changed'));
  const old = await claim('changed');
  await changeMcpServer(store, ANN, { ...config('changed'), command: 'python3' });
  expect(await recordMcpDiscovery(store, ANN, old, { descriptors: [tool('changed', 'a')] })).toBeNull();
  expect(await toolsOf('changed')).toEqual([]);
});

test('disabling or removing a server removes its tools', async () => {
  await addMcpServer(store, ANN, config('gone'));
  await recordMcpDiscovery(store, ANN, await claim('gone'), { descriptors: [tool('gone', 'a')] });
  await changeMcpServer(store, ANN, { ...config('gone'), enabled: false });
  expect(await toolsOf('gone')).toEqual([]);
  expect(await claimMcpServer(store, 'gone')).toBeUndefined();
  expect(await markMcpServerStale(store, 'gone')).toBe(false);
  expect(await removeMcpServer(store, ANN, 'gone')).toBe(true);
  expect(await removeMcpServer(store, ANN, 'gone')).toBe(false);
});

test('logins at a server end when it gets another address, or is removed', async () => {
  const keys = parseSecretKeys('5'.repeat(64));
  const at = (url: string) => ({ name: 'away', url: `https://${url}/mcp` });
  const place = { server: 'away', tenant: 'default', owner: 'ann' };
  const logIn = async () => {
    await putMcpCredentials(store.db, keys, place, 'token');
    await openMcpLogin(store.db, keys, 'state', { ...place, actor: 'ann', value: 'verifier' });
  };
  const known = async () => [
    await readMcpCredentials(store.db, keys, place),
    (await takeMcpLogin(store.db, keys, 'state'))?.value ?? null,
  ];
  await addMcpServer(store, ANN, at('one.example'));
  await logIn();
  await changeMcpServer(store, ANN, { ...at('one.example'), timeout_ms: 5000 });
  expect(await known()).toEqual(['token', 'verifier']);
  await logIn();
  await changeMcpServer(store, ANN, at('two.example'));
  expect(await known()).toEqual([null, null]);
  await logIn();
  await removeMcpServer(store, ANN, 'away');
  expect(await known()).toEqual([null, null]);
});

test('a change reported during a discovery is not lost', async () => {
  await addMcpServer(store, ANN, config('talking'));
  const claimed = await claim('talking');
  await markMcpServerStale(store, 'talking');
  await recordMcpDiscovery(store, ANN, claimed, { descriptors: [] });
  expect(await getMcpServer(store.db, 'talking')).toMatchObject({ stale: true, error: null });
  await recordMcpDiscovery(store, ANN, await claim('talking'), { descriptors: [] });
  expect(await getMcpServer(store.db, 'talking')).toMatchObject({ stale: false });
});

test('a stale server is claimed by a single process, and not again for a while', async () => {
  await addMcpServer(store, ANN, config('stale'));
  await recordMcpDiscovery(store, ANN, await claim('stale'), { descriptors: [] });
  await markMcpServerStale(store, 'stale');
  const names = async (every_ms: number) => (await claimStaleMcpServers(store, every_ms)).map(({ name }) => name);
  expect(await names(60_000)).not.toContain('stale');
  const claims = await Promise.all([names(0), names(0), names(60_000)]);
  expect(claims.flat().filter((name) => name === 'stale').length).toBeGreaterThanOrEqual(1);
  expect(await names(60_000)).not.toContain('stale');
});

test('the audit has the action and its subject, without values', async () => {
  const events = await store.db
    .selectFrom('audit')
    .select(['event', 'subject', 'detail'])
    .where('subject', '=', 'one')
    .execute();
  expect(events).toMatchObject([{ event: 'mcp_server.add', detail: { command: 'node', variables: ['TOKEN'] } }]);
  expect(JSON.stringify(events)).not.toContain('very-secret-value');
});
