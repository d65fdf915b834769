import type { Descriptor } from '@capstan/contracts';
import { describe, expect, test } from 'vitest';
import { testDescriptor } from '../testing/test-call.js';
import { useSqliteFile, useTestDb } from './testing/use-test-db.js';

const file = useSqliteFile();
const { ask, askOne } = useTestDb({ CAPSTAN_DB_SHOP: `sqlite:${file}` });
const shop = askOne('shop');

describe('SQLite', () => {
  test('returns columns and rows', async () => {
    expect(await shop('SELECT id, name FROM t WHERE id > ? ORDER BY id', [1])).toMatchObject({
      success: true,
      payload: { rows: [{ id: 2, name: 'two' }], row_count: 1, truncated: false },
    });
  });

  test('runs an action of an extension, whose statement is fixed and whose values are inputs', async () => {
    const binding = {
      ...{ kind: 'action', extension_id: 'shop', action: 'db.read' },
      preset: { connection: 'shop', sql: 'SELECT name FROM t WHERE id = ?', params: ['{{id}}'] },
    } satisfies Descriptor['binding'];
    const descriptor = testDescriptor({ tool_id: 'ext:shop:name', runner: 'db', binding });
    expect(await ask({ id: 2 }, { descriptor })).toMatchObject({ payload: { rows: [{ name: 'two' }] } });
    expect(await ask({ id: '2 OR 1=1' }, { descriptor })).toMatchObject({ payload: { rows: [] } });
    expect(await ask({ id: 2, sql: 'SELECT 1' }, { descriptor })).toMatchObject({
      payload: { rows: [{ name: 'two' }] },
    });
  });

  test('returns large integers, bytes and nulls as JSON', async () => {
    expect(
      await shop("SELECT 9007199254740993 AS big, x'deadbeef' AS bytes, NULL AS absent, 1.5 AS real"),
    ).toMatchObject({
      payload: { rows: [{ big: '9007199254740993', bytes: '3q2+7w==', absent: null, real: 1.5 }] },
    });
  });

  test('keeps both of two columns with one name, and names the columns of an empty result', async () => {
    expect(await shop('SELECT 1 AS a, 2 AS a, 3 AS "1"')).toMatchObject({
      payload: { columns: [{ name: 'a' }, { name: 'a_2' }, { name: '1' }], rows: [{ a: 1, a_2: 2, 1: 3 }] },
    });
    expect(await shop('SELECT id, name FROM t WHERE id > 99')).toMatchObject({
      payload: { columns: [{ name: 'id' }, { name: 'name' }], rows: [], row_count: 0 },
    });
  });

  test.each([
    'DELETE FROM t',
    'WITH x AS (SELECT 1) DELETE FROM t',
    "VACUUM INTO '/tmp/copy.db'",
    "ATTACH '/tmp/other.db' AS o",
    'PRAGMA user_version = 5',
    'SELECT 1; DELETE FROM t',
  ])('only reads: %s', async (sql) => {
    expect(await shop(sql)).toMatchObject({ success: false });
    expect(await shop('SELECT count(*) AS n FROM t')).toMatchObject({ payload: { rows: [{ n: 2 }] } });
  });

  test('writes if the policy allows it', async () => {
    expect(await shop('INSERT INTO t VALUES (?, ?)', [3, 'three'], { write: true })).toMatchObject({
      success: true,
      payload: { row_count: 1 },
    });
    expect(await shop('DELETE FROM t WHERE id = 3 RETURNING name', [], { write: true })).toMatchObject({
      payload: { rows: [{ name: 'three' }] },
    });
  });

  test('reports which file it read or wrote', async () => {
    const seen = async (sql: string) => (await shop(sql, [], { write: true })).facts?.observed;
    expect(await seen('SELECT * FROM t')).toEqual({ files_read: [file] });
    const written = { files_read: [file], files_written: [file] };
    expect(await seen('CREATE TABLE made (id)')).toEqual(written);
    expect(await seen('WITH x AS (SELECT 1 AS id) INSERT INTO made SELECT id FROM x')).toEqual(written);
    expect(await seen('DROP TABLE made')).toEqual(written);
  });

  test('logs the kind of statement and the number of rows', async () => {
    const lines: string[] = [];
    await shop("SELECT * FROM t WHERE name <> 'a private matter'", [], { log: (_, line) => lines.push(line) });
    expect(lines).toEqual(['SELECT on shop\n', '2 rows\n']);
  });

  const ENDLESS = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)';

  test('an endless result is truncated', async () => {
    expect(await ask({ connection: 'shop', sql: `${ENDLESS} SELECT i FROM n`, max_rows: 5 })).toMatchObject({
      truncated: true,
      payload: { row_count: 5 },
    });
  });

  test('an endless computation is stopped by the time limit, and by cancel', async () => {
    const sql = `${ENDLESS} SELECT count(*) FROM n`;
    expect(await shop(sql, [], { timeout_ms: 300 })).toMatchObject({ kind: 'TOOL_TIMEOUT' });
    const controller = new AbortController();
    const asked = shop(sql, [], { signal: controller.signal });
    controller.abort();
    expect(await asked).toMatchObject({ kind: 'CANCELED' });
    expect(await shop('SELECT 1 AS one')).toMatchObject({ success: true });
  });

  test('an error has the message', async () => {
    expect(await shop('SELECT nme FROM t')).toMatchObject({
      kind: 'TOOL_ERROR',
      error: expect.stringContaining('nme'),
    });
  });
});
