import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { isUnavailable } from './open-store.js';
import { openTestStore } from './testing/open-test-store.js';

const store = await openTestStore();
const INSERT = { name: 'insert-note', text: 'INSERT INTO notes VALUES ($1)' };
const count = async () => (await store.query({ name: 'count-notes', text: 'SELECT FROM notes' }, [])).length;

test('concurrent statements of a transaction run one after the other, and are committed together', async () => {
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => warnings.push(warning);
  process.on('warning', onWarning);
  await store.query({ name: 'create-notes', text: 'CREATE TABLE notes (n int)' }, []);
  await store.transact((query) => Promise.all([1, 2, 3].map((n) => query(INSERT, [n]))));
  expect(await count()).toBe(3);
  const late = store.transact(async (query) => {
    void query(INSERT, [4]);
    void query(INSERT, [5]);
    throw new Error('never mind');
  });
  await expect(late).rejects.toThrow('never mind');
  expect(await count()).toBe(3);
  process.off('warning', onWarning);
  expect(warnings).toEqual([]);
});

test('a read-only connection is replaced, as after a failover', async () => {
  await sql`SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY`.execute(store.db);
  const write = () => sql`CREATE TABLE failed_over ()`.execute(store.db);
  const refused = await write().catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: '25006' });
  expect(isUnavailable(refused)).toBe(true);
  // The connection may be handed out once more before its end is noticed: that is worth another try, too.
  await write().catch((error: unknown) => {
    expect(isUnavailable(error)).toBe(true);
    return write();
  });
});

describe('an idle transaction', () => {
  const ask = (name: string, text: string) => ({ name, text });

  test('does not keep its locks forever', async () => {
    const allowed = ask('allowed', 'SHOW idle_in_transaction_session_timeout');
    expect(await store.query(allowed, [])).toEqual([{ idle_in_transaction_session_timeout: '10s' }]);
  });

  test('is ended by Postgres with an error that allows a retry', async () => {
    const work = store.transact(async (query) => {
      await query(ask('hurry', "SELECT set_config('idle_in_transaction_session_timeout', '1', true)"), []);
      // Simulates a frozen process: it sends the next statement before it learns that the connection has ended.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
      await query(ask('too-late', 'SELECT 1'), []);
    });
    expect(isUnavailable(await work.catch((error: unknown) => error))).toBe(true);
  });
});
