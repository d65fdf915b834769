import { sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import { openTestStore } from '../testing/open-test-store.js';
import { appendAudit } from './append-audit.js';

const store = await openTestStore();
const event = { tenant: 'acme', actor: 'ann', event: 'key.create', subject: 'key_1' };
const audit = () => store.db.selectFrom('audit').select(['event', 'detail']).orderBy('seq').execute();

beforeEach(() => appendAudit(store.db, [event]));

test.each([
  { what: 'UPDATE', statement: sql`UPDATE audit SET actor = 'somebody else'` },
  { what: 'DELETE', statement: sql`DELETE FROM audit` },
  { what: 'TRUNCATE', statement: sql`TRUNCATE audit` },
  { what: 'TRUNCATE', statement: sql`TRUNCATE audit, keys CASCADE` },
  {
    what: 'UPDATE',
    statement: sql`INSERT INTO audit (seq, tenant, actor, event, subject, detail)
      OVERRIDING SYSTEM VALUE SELECT seq, 'x', 'x', 'x', 'x', '{}' FROM audit LIMIT 1
      ON CONFLICT (seq) DO UPDATE SET actor = 'somebody else'`,
  },
])('the audit refuses $what', async ({ what, statement }) => {
  const before = await audit();
  await expect(statement.execute(store.db)).rejects.toThrow(`the audit is append-only: ${what} refused`);
  expect(await audit()).toEqual(before);
});

test('a rolled back transaction leaves no audit event', async () => {
  const before = await audit();
  const failing = store.db.transaction().execute(async (db) => {
    await appendAudit(db, [event]);
    throw new Error('it did not happen');
  });
  await expect(failing).rejects.toThrow('it did not happen');
  expect(await audit()).toEqual(before);
});

test('details are stored, and no events mean no statement', async () => {
  const before = await audit();
  await appendAudit(store.db, []);
  await appendAudit(store.db, [{ ...event, detail: { nested: ['\u0000', 1] } }]);
  expect(await audit()).toEqual([...before, { event: 'key.create', detail: { nested: ['\u0000', 1] } }]);
});
