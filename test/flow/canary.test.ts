import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { createClient } from '@capstan/client';
import { INSTALLATION_POLICY } from '@capstan/contracts';
import { Redis } from 'ioredis';
import pg from 'pg';
import { beforeAll, describe, expect, test } from 'vitest';
import { atEnd } from '../fixtures/at-end.js';
import { createTestDatabase } from '../fixtures/create-test-database.js';
import { OPEN_INSTALLATION } from '../fixtures/open-installation.js';
import { hardestQueue } from '../fixtures/queues.js';
import { spawnCapstan } from '../fixtures/spawn-capstan.js';
import { startTestRedis } from '../fixtures/start-test-redis.js';
import { ALLOW_ALL } from './start-system.js';

const ADMIN_KEY = 'cap_Canary-test-admin-key-0123456789';
/** One secret for each place that holds one. The admin key is among them: no tool may ever see it. */
const CANARIES = {
  CAPSTAN_SECRET_GITHUB: 'canary-one-of-the-environment-7f3a',
  SOME_PLATFORM_TOKEN: 'canary-two-beside-ours-91bc',
  CAPSTAN_LLM_API_KEY: 'canary-three-for-the-model-55de',
  CAPSTAN_SECRETS_KEY: Buffer.from('canary-four-encrypts-the-rest-00').toString('base64'),
  stored: 'canary-five-kept-in-postgres-c2d4',
  database: 'canary-six-of-a-database-08ab',
  CAPSTAN_API_KEY: ADMIN_KEY,
};

/** Echoes everything it was sent, headers included: a tool that leaks the secrets it was given. */
const startEcho = async (): Promise<{ url: string; heard: string[] }> => {
  const heard: string[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const said = JSON.stringify({ headers: request.headers, body });
      heard.push(said);
      if (request.url === '/slow') return void request.socket.destroy();
      response.writeHead(request.url === '/fails' ? 500 : 200, {
        'content-type': 'application/json',
        'x-said': request.headers.authorization ?? '',
      });
      response.end(said);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, heard };
};

const formsOf = (secret: string) => [
  secret,
  encodeURIComponent(secret),
  Buffer.from(secret).toString('base64').replace(/=+$/, ''),
  Buffer.from(secret).toString('hex'),
];

const everyTable = async (url: string): Promise<string> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const tables = await client.query(
    "SELECT quote_ident(schemaname) || '.' || quote_ident(tablename) AS t FROM pg_tables WHERE schemaname = 'public'",
  );
  const dumps: string[] = [];
  for (const { t } of tables.rows) {
    const rows = await client.query(`SELECT x::text AS row FROM ${t} AS x`);
    dumps.push(t, ...rows.rows.map(({ row }) => row));
  }
  await client.end();
  return dumps.join('\n');
};

const everyKey = async (url: string): Promise<string> => {
  const redis = new Redis(url);
  const keys = await redis.keys('*');
  const dumps: string[] = [];
  for (const key of keys) dumps.push(key, (await redis.dumpBuffer(key))?.toString('latin1') ?? '');
  redis.disconnect();
  return dumps.join('\n');
};

describe.each(hardestQueue)('secrets of the worker on the $name queue', (queue) => {
  let said = '';
  let heard: string[] = [];

  beforeAll(async () => {
    const database = await createTestDatabase();
    const redis = queue.name === 'redis' ? await startTestRedis({}) : null;
    const echo = await startEcho();
    heard = echo.heard;
    const capstan = await spawnCapstan(['up'], {
      ...CANARIES,
      stored: '',
      database: '',
      CAPSTAN_DB_GONE: `postgres://user:${CANARIES.database}@127.0.0.1:1/nowhere`,
      CAPSTAN_LLM_BASE_URL: echo.url,
      CAPSTAN_LLM_MODEL: 'parrot',
      DATABASE_URL: database.url,
      CAPSTAN_PORT: '0',
      CAPSTAN_LOG_LEVEL: 'debug',
      ...(redis ? { REDIS_URL: redis.url } : {}),
    });
    const up = await capstan.waitForLine(/Capstan is up at (\S+)/);
    const client = createClient({ url: up[1] ?? '', key: ADMIN_KEY });
    await client.policies.put(INSTALLATION_POLICY, OPEN_INSTALLATION);
    await client.policies.put('default', {
      ...ALLOW_ALL,
      limits: [{ shell: true, deny_private_ips: false, sandbox: 'preferred' }],
    });
    await client.secrets.put('kept', CANARIES.stored);

    const header = { authorization: 'Bearer secret://github', 'x-other': 'secret://kept' };
    const calls = [
      { tool_id: 'shell.run', inputs: { cmd: ['env'] } },
      {
        tool_id: 'shell.run',
        inputs: { cmd: ['sh', '-c', 'cat /proc/*/environ /proc/$PPID/environ | tr "\\0" "\\n"; exit 3'] },
      },
      { tool_id: 'shell.run', inputs: { cmd: ['sh', '-c', 'cat /proc/*/cmdline >&2'] } },
      { tool_id: 'api.call', inputs: { method: 'POST', url: `${echo.url}/`, headers: header, body: 'hello' } },
      { tool_id: 'api.call', inputs: { url: `${echo.url}/fails`, headers: header } },
      { tool_id: 'api.call', inputs: { url: `${echo.url}/slow`, headers: header } },
      { tool_id: 'api.call', inputs: { url: `${echo.url}/`, headers: { authorization: 'secret://unknown' } } },
      { tool_id: 'analyze.response', inputs: { content: 'Hello' } },
      { tool_id: 'db.query', inputs: { connection: 'gone', sql: 'SELECT 1' } },
    ];
    const done = await Promise.all(calls.map((call) => client.submit({ ...call, max_attempts: 1 }, { wait_s: 30 })));
    const answers = await Promise.all(done.map(({ invocation_id }) => client.get(invocation_id)));
    const listed: unknown[] = [];
    for await (const secret of client.secrets.list()) listed.push(secret);
    said = [
      JSON.stringify(answers),
      JSON.stringify(listed),
      await everyTable(database.url),
      redis ? await everyKey(redis.url) : '',
      await (await fetch(`${up[1]}/metrics`)).text(),
      // The admin key is printed once, at the start, for the admin.
      ...[...capstan.stdout, ...capstan.stderr].filter((line) => !/^\s*key\s/.test(line)),
    ].join('\n');
    await client.close();
  });

  test('reach the server that the call is meant to send them to', () => {
    expect(heard.join('\n')).toContain(`Bearer ${CANARIES.CAPSTAN_SECRET_GITHUB}`);
    expect(heard.join('\n')).toContain(CANARIES.stored);
    expect(heard.join('\n')).toContain(CANARIES.CAPSTAN_LLM_API_KEY);
  });

  test('are searched for in /metrics too, which has the attempts of each runner type', () => {
    expect(said).toContain('capstan_attempts_total{runner="db",outcome="failed"} 1');
    expect(said).toContain('capstan_attempt_seconds_count{runner="api"} 4');
    expect(said).toContain('capstan_running_attempts{runner="browser"} 0');
  });

  test('are redacted from the response of the tool', () => {
    expect(said).toContain('[REDACTED]');
    expect(said).toContain('There is no secret unknown for the tenant default.');
    expect(said).toContain('the connection gone cannot be reached');
  });

  test.each(Object.entries(CANARIES))('%s is in no table, no key of Redis, no answer, no log', (_, canary) => {
    for (const form of formsOf(canary)) expect(said.includes(form), form).toBe(false);
  });
});
