import { expect, test } from 'vitest';
import { openTestStore } from './testing/open-test-store.js';

const store = await openTestStore();
const INSERT = { name: 'insert-note', text: 'INSERT INTO notes VALUES ($1)' };
const count = async () => (await store.query({ name: 'count-notes', text: 'SELECT FROM notes' }, [])).length;

test('statements of a transaction that are asked for at once run one after the other, as one', async () => {
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

test('a transaction in which nothing happens does not keep its locks for ever', async () => {
  const allowed = { name: 'idle', text: 'SHOW idle_in_transaction_session_timeout' };
  expect(await store.query(allowed, [])).toEqual([{ idle_in_transaction_session_timeout: '30s' }]);
});
