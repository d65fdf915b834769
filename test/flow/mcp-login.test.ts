import { createClient } from '@capstan/client';
import { Redis } from 'ioredis';
import pg from 'pg';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Cluster, startCluster } from '../faults/start-cluster.js';
import { atEnd } from '../fixtures/at-end.js';
import { createTestDatabase } from '../fixtures/create-test-database.js';
import { eventually } from '../fixtures/eventually.js';
import { startTestRedis } from '../fixtures/start-test-redis.js';
import { openBrowser } from './open-browser.js';
import { startProtectedServer } from './start-protected-server.js';
import { ALLOW_ALL } from './start-system.js';

const WHOAMI = 'mcp:protected:whoami';

describe('A login at an MCP server behind OAuth', () => {
  let cluster: Cluster;
  let database_url: string;
  let upstream: Awaited<ReturnType<typeof startProtectedServer>>;
  const said_to_redis: string[] = [];

  beforeAll(async () => {
    upstream = await startProtectedServer();
    const redis = await startTestRedis({ appendonly: false });
    database_url = (await createTestDatabase()).url;
    // `monitor` opens a connection of its own, beside this one.
    const connection = new Redis(redis.url);
    const monitor = await connection.monitor();
    monitor.on('monitor', (_time: string, args: string[]) => said_to_redis.push(args.join(' ')));
    atEnd(() => {
      monitor.disconnect();
      connection.disconnect();
    });
    const env = { CAPSTAN_LOG_LEVEL: 'trace', CAPSTAN_SECRETS_KEY: '5'.repeat(64), CAPSTAN_LEASE_MS: '30000' };
    cluster = await startCluster({ redis, database_url, runners: 'mcp', env });
    await cluster.client.policies.put('default', ALLOW_ALL);
  });

  const call = (client = cluster.client) => client.submit({ tool_id: WHOAMI, inputs: {} }, { wait_s: 30 });
  const logIn = async (client = cluster.client, as = 'ada', per: 'tenant' | 'actor' = 'tenant'): Promise<string> => {
    const { authorization_url } = await client.mcpServers.login('protected', per);
    expect(authorization_url).toContain('code_challenge_method=S256');
    expect(new URL(authorization_url ?? '').searchParams.get('scope')).toContain('mcp');
    const browser = openBrowser();
    const back = await browser.logIn(authorization_url ?? '', as, cluster.gateway.url);
    return (await browser.send(back)).text();
  };

  test('runs in a browser with dynamic client registration and PKCE, and makes the tools of the server available', async () => {
    const added = await cluster.client.mcpServers.add({ name: 'protected', url: upstream.resource });
    expect(added).toMatchObject({ status: 'failing', last_error: expect.stringContaining('capstan mcp login') });
    expect(await logIn()).toContain('You are logged in');
    expect(await cluster.client.mcpServers.get('protected')).toMatchObject({ status: 'ready', tools: 1 });
    expect(JSON.stringify((await call()).result?.payload)).toContain('in the name of ada');
  });

  test('is refreshed when the server refuses its token, once for all calls that run into that', async () => {
    await upstream.revoke();
    const before = new Set([...upstream.seen, ...upstream.given]);
    const calls = await Promise.all(Array.from({ length: 6 }, () => call()));
    expect(calls.map(({ status }) => status)).toEqual(calls.map(() => 'succeeded'));
    expect(upstream.seen.filter((token) => !before.has(token)).length).toBeGreaterThan(0);
    // The server ends a login whose refresh token is used twice.
    expect(await call()).toMatchObject({ status: 'succeeded' });
  });

  test('of a person is used only for the calls of that person', async () => {
    const { key } = await cluster.client.keys.create({ tenant: 'default', actor: 'bob', roles: ['submit'] });
    const bob = createClient({ url: cluster.gateway.url, key });
    atEnd(() => bob.close());
    await logIn(bob, 'bobby', 'actor');
    expect(JSON.stringify((await call(bob)).result?.payload)).toContain('in the name of bobby');
    expect(JSON.stringify((await call()).result?.payload)).toContain('in the name of ada');
  });

  test('that was ended at the authorization server is reported by the call and by the server, and can be repeated', async () => {
    await upstream.endLogins();
    expect((await call()).result?.error).toContain('capstan mcp login protected');
    await eventually(async () => {
      const server = await cluster.client.mcpServers.get('protected');
      expect(server).toMatchObject({ status: 'failing', last_error: expect.stringContaining('capstan mcp login') });
    });
    await logIn();
    expect(await call()).toMatchObject({ status: 'succeeded' });
  });

  test('uses the client id metadata document of the installation if the server does not register clients', async () => {
    const home = 'https://capstan.example.com';
    const gateway = await cluster.startGateway({ CAPSTAN_PUBLIC_URL: home });
    const looked_up: string[] = [];
    const strict = await startProtectedServer((client_id) => {
      looked_up.push(client_id.href);
      return fetch(`${gateway.url}${client_id.pathname}`);
    });
    await gateway.client.mcpServers.add({ name: 'strict', url: strict.resource });
    const { authorization_url } = await gateway.client.mcpServers.login('strict', 'tenant');
    const client_id = `${home}/client-metadata.json`;
    expect(new URL(authorization_url ?? '').searchParams.get('client_id')).toBe(client_id);
    const back = await openBrowser().logIn(authorization_url ?? '', 'ada', home);
    const page = await fetch(`${gateway.url}${back.pathname}${back.search}`);
    expect(await page.text()).toContain('You are logged in');
    expect(looked_up).toEqual([client_id]);
    const done = await gateway.client.submit({ tool_id: 'mcp:strict:whoami', inputs: {} }, { wait_s: 30 });
    expect(JSON.stringify(done.result?.payload)).toContain('in the name of ada');
  });

  test('leaves no token in Redis, in logs or in any table', async () => {
    expect(new Set(upstream.given).size).toBeGreaterThan(4);
    const processes = [cluster.gateway.process, cluster.coordinator, ...cluster.workers];
    const logs = processes.flatMap(({ stdout, stderr }) => [...stdout, ...stderr]).join('\n');
    expect(logs).toContain(WHOAMI);
    expect(said_to_redis.length).toBeGreaterThan(10);
    const tables = await allRows(database_url);
    expect(tables).toContain('in the name of bobby');
    for (const token of upstream.given) {
      const bytes = Buffer.from(token).toString('hex');
      for (const place of [logs, said_to_redis.join('\n'), tables]) {
        expect(place.includes(token)).toBe(false);
        expect(place.includes(bytes)).toBe(false);
      }
    }
  });
});

/** Every row of every table, as text. */
async function allRows(url: string): Promise<string> {
  const client = new pg.Client(url);
  await client.connect();
  const { rows: tables } = await client.query<{ name: string }>(
    `SELECT format('%I.%I', table_schema, table_name) AS name FROM information_schema.tables
     WHERE table_type = 'BASE TABLE' AND table_schema NOT IN ('pg_catalog', 'information_schema')`,
  );
  const texts: string[] = [];
  for (const { name } of tables) {
    const { rows } = await client.query<{ text: string }>(`SELECT t::text AS text FROM ${name} t`);
    texts.push(...rows.map(({ text }) => text));
  }
  await client.end();
  return texts.join('\n');
}
