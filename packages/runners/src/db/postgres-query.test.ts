import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { Json } from '@capstan/contracts';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { useTestDb } from './testing/use-test-db.js';

declare module 'vitest' {
  export interface ProvidedContext {
    postgres_url: string;
  }
}

const url = inject('postgres_url');
const schema = `db_runner_${process.pid}`;
// Takes connections, and never says a word.
const silent = createServer().listen(0, '127.0.0.1');
await once(silent, 'listening');
const { ask, askOne } = useTestDb({
  CAPSTAN_DB_MAIN: url,
  CAPSTAN_DB_GONE: 'postgres://somebody:hunter2-hunter2@127.0.0.1:1/nowhere',
  CAPSTAN_DB_SILENT: `postgres://127.0.0.1:${(silent.address() as AddressInfo).port}/nothing`,
});
const main = askOne('main');
const admin = new pg.Client({ connectionString: url });

beforeAll(async () => {
  await admin.connect();
  await admin.query(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.t (id int PRIMARY KEY, name text)`);
  await admin.query(`INSERT INTO ${schema}.t VALUES (1, 'one'), (2, 'two')`);
});
afterAll(async () => {
  await admin.query(`DROP SCHEMA ${schema} CASCADE`);
  await admin.end();
  silent.close();
});

const count = async () => (await admin.query(`SELECT count(*)::int AS n FROM ${schema}.t`)).rows[0].n;

describe('Postgres', () => {
  test('returns columns and rows', async () => {
    expect(await main(`SELECT id, name FROM ${schema}.t WHERE id > $1 ORDER BY id`, [1])).toEqual({
      success: true,
      payload: {
        connection: 'main',
        columns: [
          { name: 'id', type: 'integer' },
          { name: 'name', type: 'text' },
        ],
        rows: [{ id: 2, name: 'two' }],
        row_count: 1,
        truncated: false,
      },
      truncated: false,
      facts: {
        observed: { domains: [new URL(url).hostname] },
        usage: { rows: 1 },
      },
    });
  });

  test.each([
    ['statement', 1],
    ['COMMIT', 2],
  ])('a call that is lost right before its %s is sent changes nothing', async (_what, at) => {
    const lost = new AbortController();
    let looks = 0;
    const beforeEffect = () => {
      looks += 1;
      if (looks === at) lost.abort();
    };
    const before = await count();
    const options = { write: true, signal: lost.signal, beforeEffect };
    expect(await main(`INSERT INTO ${schema}.t VALUES (9, 'nine')`, [], options)).toMatchObject({ kind: 'CANCELED' });
    expect(looks).toBe(at);
    expect(await count()).toBe(before);
  });

  test.each<[string, Json]>([
    ['9007199254740991::bigint', 9007199254740991],
    ['9007199254740993::bigint', '9007199254740993'],
    ['1.10::numeric', '1.10'],
    ["'\\xdeadbeef'::bytea", '3q2+7w=='],
    ["'2024-05-06 07:08:09.5+02'::timestamptz", '2024-05-06T05:08:09.5Z'],
    ["'2024-05-06 07:08:09'::timestamp", '2024-05-06T07:08:09'],
    ["'2024-05-06'::date", '2024-05-06'],
    ["'1 day 2 hours'::interval", 'P1DT2H'],
    [`'{"a": [1, null]}'::jsonb`, { a: [1, null] }],
    ["'{1,2}'::int[]", [1, 2]],
    ["'NaN'::float8", 'NaN'],
    ['true', true],
    ['NULL', null],
  ])('gives %s as JSON', async (expression, value) => {
    expect(await main(`SELECT ${expression} AS v`)).toMatchObject({ payload: { rows: [{ v: value }] } });
  });

  test('keeps both of two columns with one name', async () => {
    expect(await main('SELECT 1 AS a, 2 AS a')).toMatchObject({ payload: { rows: [{ a: 1, a_2: 2 }] } });
  });

  test('passes values only as parameters', async () => {
    const value = "'; DROP TABLE t; --";
    expect(await main('SELECT $1::text AS v', [value])).toMatchObject({ payload: { rows: [{ v: value }] } });
  });

  test.each([
    `INSERT INTO ${schema}.t VALUES (9, 'nine')`,
    `DELETE FROM ${schema}.t`,
    `WITH gone AS (DELETE FROM ${schema}.t RETURNING id) SELECT * FROM gone`,
    `EXPLAIN ANALYZE DELETE FROM ${schema}.t`,
    `/* SELECT */ TRUNCATE ${schema}.t`,
    `SELECT id INTO ${schema}.u FROM ${schema}.t`,
    `SELECT nextval('pg_catalog.none')`,
  ])('only reads: %s', async (sql) => {
    expect(await main(sql)).toMatchObject({ success: false });
    expect(await count()).toBe(2);
  });

  test.each([
    'SELECT 1; SELECT 2',
    'SELECT 1; -- ; \n DELETE FROM t',
    'COMMIT',
    'SET TRANSACTION READ WRITE',
    "COPY (SELECT 1) TO PROGRAM 'true'",
    '',
    ' -- nothing\n',
  ])('refuses %j before it is sent', async (sql) => {
    expect(await main(sql, [], { write: true })).toMatchObject({ success: false, kind: 'INVALID_INPUTS' });
  });

  test('a semicolon at the end, in a text or in a comment does not start a second statement', async () => {
    expect(await main(`SELECT ';' AS a, $x$;$x$ AS b /* ; /* ; */ ; */ -- ;\n;`)).toMatchObject({
      payload: { rows: [{ a: ';', b: ';' }] },
    });
  });

  test('writes if the policy allows it, and returns the number of rows', async () => {
    const inserted = await main(`INSERT INTO ${schema}.t VALUES ($1, $2)`, [3, 'three'], { write: true });
    expect(inserted).toMatchObject({ success: true, payload: { row_count: 1, rows: [] } });
    const gone = await main(`DELETE FROM ${schema}.t WHERE id = 3 RETURNING name`, [], { write: true });
    expect(gone).toMatchObject({ success: true, payload: { rows: [{ name: 'three' }] } });
    expect(await count()).toBe(2);
  });

  test('db.read never writes, even if the policy allows writing', async () => {
    const sql = `INSERT INTO ${schema}.t VALUES (4, 'four')`;
    expect(await main(sql, [], { write: true, tool_id: 'db.read' })).toMatchObject({ kind: 'WRITE_NOT_GRANTED' });
  });

  test('a huge result is truncated between rows, without being fetched completely', async () => {
    const sql = 'SELECT generate_series(1, 100000000) AS i, repeat($1, 1000) AS text';
    const few = await ask({ connection: 'main', sql, params: ['x'], max_rows: 3 });
    expect(few).toMatchObject({ success: true, truncated: true, payload: { row_count: 3, truncated: true } });
    const small = await main(sql, ['x'], { max_output_bytes: 10_000 });
    expect(small).toMatchObject({ success: true, truncated: true, payload: { row_count: 9 } });
  });

  test('a result with exactly the requested number of rows is not marked as truncated', async () => {
    const sql = 'SELECT i FROM generate_series(1, 400) AS i';
    expect(await ask({ connection: 'main', sql, max_rows: 400 })).toMatchObject({
      truncated: false,
      payload: { row_count: 400 },
    });
  });

  test('is stopped by the time limit', async () => {
    expect(await main('SELECT pg_sleep(60)', [], { timeout_ms: 100 })).toMatchObject({ kind: 'TOOL_TIMEOUT' });
  });

  test('is stopped on the server when the call is canceled', async () => {
    const controller = new AbortController();
    const asked = main(`SELECT pg_sleep(60) /* ${schema} */`, [], { signal: controller.signal });
    const sql = `SELECT count(*)::int AS n FROM pg_stat_activity
      WHERE query LIKE '%pg_sleep(60) /* ${schema}%' AND state = 'active' AND pid <> pg_backend_pid()`;
    const until = async (n: number) => {
      while ((await admin.query(sql)).rows[0].n !== n) await new Promise(setImmediate);
    };
    await until(1);
    controller.abort();
    expect(await asked).toMatchObject({ success: false, kind: 'CANCELED' });
    await until(0);
  });

  // Less time than the driver waits for by itself.
  test('stops waiting for a connection when its call ends', { timeout: 8000 }, async () => {
    const controller = new AbortController();
    const asked = askOne('silent')('SELECT 1', [], { signal: controller.signal });
    const [socket]: Socket[] = await once(silent, 'connection');
    controller.abort();
    expect(await asked).toMatchObject({ success: false, kind: 'CANCELED' });
    socket?.destroy();
  });

  test('a connection that is lost during a query is a failure that may be retried', async () => {
    const asked = main(`SELECT pg_sleep(60) /* lost ${schema} */`);
    const sql = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE query LIKE '%/* lost ${schema}%' AND state = 'active' AND pid <> pg_backend_pid()`;
    while ((await admin.query(sql)).rowCount === 0) await new Promise(setImmediate);
    expect(await asked).toMatchObject({ success: false, retryable: true });
    expect(await main('SELECT 1 AS one')).toMatchObject({ success: true });
  });

  test('a write that may have taken effect is not retried, and one that was never sent is', async () => {
    const lost = await main('SELECT pg_terminate_backend(pg_backend_pid())', [], { write: true });
    expect(lost).toMatchObject({ success: false, retryable: false, facts: { observed: {} } });
    const gone = await ask({ connection: 'gone', sql: 'INSERT INTO t VALUES (1)' }, { write: true });
    expect(gone).toMatchObject({ success: false, retryable: true });
  });

  test('a query leaves no locks and settings in the session', async () => {
    await main('SELECT pg_advisory_lock(4711)');
    await main("SELECT set_config('search_path', 'nowhere', false)");
    expect(await main('SHOW search_path')).toMatchObject({ payload: { rows: [{ search_path: '"$user", public' }] } });
    expect((await admin.query('SELECT count(*)::int AS n FROM pg_locks WHERE objid = 4711')).rows[0].n).toBe(0);
  });

  test('an error has the message and the position', async () => {
    expect(await main('SELECT nme FROM pg_class')).toMatchObject({
      success: false,
      kind: 'TOOL_ERROR',
      retryable: false,
      error: 'main: column "nme" does not exist',
      payload: { sqlstate: '42703', position: 8 },
    });
  });

  test('an unreachable server is a failure without address and password', async () => {
    const outcome = await ask({ connection: 'gone', sql: 'SELECT 1' });
    expect(outcome).toMatchObject({ success: false, retryable: true });
    expect(JSON.stringify(outcome)).not.toMatch(/hunter2|127\.0\.0\.1|somebody/);
  });
});
