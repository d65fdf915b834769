import { loneRunId } from '@capstan/contracts';
import { fieldDigests, leafHash, parseCheckpoint, parseSealKey, postgresHash, recordHash } from '@capstan/integrity';
import fc from 'fast-check';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { insertInvocations } from '../invocation/insert-invocations.js';
import { redriveInvocations } from '../invocation/redrive-invocations.js';
import { queryIn, type Store } from '../open-store.js';
import { logAll } from '../testing/log-all.js';
import { manyInvocations, newInvocation } from '../testing/new-invocation.js';
import { openTestStore } from '../testing/open-test-store.js';
import { endOne } from '../testing/run-one.js';
import { appendToLog, hasDueForLog } from './append-to-log.js';
import { chainHash, findLogEntries, readDigests } from './find-log-entries.js';
import { readInvocationRecords, readRunRecord, type StoredRecord } from './read-log-records.js';
import { readSuperseded } from './read-superseded.js';
import { openTree, readCheckpoint, readEntries } from './read-tiles.js';

const key = parseSealKey(Buffer.alloc(32, 7).toString('base64'));
const by = { key_id: 'key_1', tenant: 'acme', actor: 'ann', roles: ['admin' as const] };

/** Ended at once, in one transaction: denied calls, which never wait. */
const denied = (store: Store, count: number, tenant = 'acme') =>
  insertInvocations(store, manyInvocations(count, { tenant, status: 'denied' }));

async function expectLogged({ db }: Store, records: readonly StoredRecord[]): Promise<void> {
  const entries = await findLogEntries(
    db,
    'acme',
    records.flatMap(({ seq }) => seq ?? []),
  );
  const digests = await readDigests(
    db,
    'acme',
    [...entries.values()].map(({ index }) => index),
  );
  for (const record of records) {
    const entry = entries.get(record.seq ?? '');
    if (!entry) throw new Error(`${record.id} is not in the log`);
    expect(entry.record_hash.toString('hex'), record.id).toBe(recordHash(record).toString('hex'));
    expect(digests.get(entry.index)?.toString('hex'), record.id).toBe(fieldDigests(record).toString('hex'));
    expect(chainHash(entry)).toBe(`sha256:${leafHash(recordHash(record)).toString('hex')}`);
  }
}

/** Checks that the stored batches, nodes and checkpoint of a tenant form one tree without gaps. */
async function expectWhole({ db }: Store, tenant: string, size: number): Promise<void> {
  const checkpoint = parseCheckpoint((await readCheckpoint(db, tenant))?.note ?? '');
  expect(checkpoint.size).toBe(size);
  expect((await readEntries(db, tenant, 0, size + 1)).length).toBe(size);
  expect((await openTree(db, tenant).root(size)).equals(checkpoint.root)).toBe(true);
}

describe('an ended call', () => {
  test('is appended once, and its record is the one that Postgres hashed', async () => {
    const store = await openTestStore();
    const ended = [await endOne(store, 'succeeded'), await endOne(store, 'failed'), await endOne(store, 'ambiguous')];
    expect(await logAll(store)).toBe(3);
    expect(await appendToLog(store, null)).toBe(0);
    expect(await hasDueForLog(store)).toBe(false);
    await expectLogged(
      store,
      await readInvocationRecords(
        store.db,
        ended.map(({ invocation_id }) => invocation_id),
      ),
    );
    await expectWhole(store, 'acme', 3);
  });

  test('has the same record in Postgres and in TypeScript, whatever the values are', async () => {
    const store = await openTestStore();
    const { invocation_id } = await endOne(store, 'succeeded');
    await sql`INSERT INTO attempts (invocation_id, attempt, worker_id, started_at, outcome) VALUES
      (${invocation_id}, 7, 'w', now(), 'refused'), (${invocation_id}, 8, 'w', now(), 'failed')`.execute(store.db);
    await sql`INSERT INTO holds (hold_id, invocation_id, tenant, actor, tool_id, expires_in_ms, expires_at)
      VALUES ('hld_1', ${invocation_id}, 'acme', 'ann', 't', 1000, now())`.execute(store.db);
    await sql`INSERT INTO hold_entries (hold_id, actor, kind, round, comment) VALUES ('hld_1', 'eve', 'release', 1, 'é'),
      ('hld_1', 'eve', 'comment', 1, 'later')`.execute(store.db);
    const text = fc.string({ unit: 'grapheme' }).filter((value) => !value.includes('\u0000'));
    await fc.assert(
      fc.asyncProperty(
        text,
        fc.option(text),
        fc.jsonValue(),
        fc.double({ noNaN: true }),
        fc.array(text),
        async (...given) => {
          const [actor, error, json, number, list] = given;
          const { db } = store;
          await sql`UPDATE invocations SET actor = ${actor}, roles = ${list}, decision = ${JSON.stringify(json)},
          labels = ${JSON.stringify({ [actor]: error })} WHERE invocation_id = ${invocation_id}`.execute(db);
          await sql`UPDATE results SET error = ${error}, duration_ms = ${number}, facts = ${JSON.stringify(json)}, seq = DEFAULT,
          xid = pg_current_xact_id() WHERE invocation_id = ${invocation_id}`.execute(db);
          await sql`UPDATE hold_entries SET comment = ${actor}, changed = ${list} WHERE hold_id = 'hld_1'`.execute(db);
          await logAll(store);
          await expectLogged(store, await readInvocationRecords(db, [invocation_id]));
        },
      ),
      { numRuns: 40 },
    );
  });

  test('of a run is listed in the record of the run', async () => {
    const store = await openTestStore();
    const run = { run_id: 'run_1', tenant: 'acme', actor: 'ann' };
    await insertInvocations(store, manyInvocations(3, { status: 'denied', run_id: 'run_1' }), { run });
    expect(await logAll(store)).toBe(4);
    const record = await readRunRecord(store.db, 'run_1');
    expect(record?.tables.calls).toHaveLength(3);
    await expectLogged(store, record ? [record] : []);
  });

  test('that is redriven gets another entry, and the older one is superseded', async () => {
    const store = await openTestStore();
    const { invocation_id } = await endOne(store, 'failed');
    await logAll(store);
    const lone = loneRunId(invocation_id);
    expect(await readSuperseded(store.db, 'acme', lone)).toEqual([]);
    await redriveInvocations(store, by, { invocation_id });
    expect(await readSuperseded(store.db, 'acme', lone)).toMatchObject([
      { id: invocation_id, log_index: 0, reason: 'redriven' },
    ]);
  });
});

describe('the log', () => {
  test('has a separate tree for each tenant, over many batches', async () => {
    const store = await openTestStore();
    for (const count of [1, 254, 1, 1, 600, 3]) {
      await denied(store, count);
      await denied(store, 2, 'globex');
      await logAll(store, key);
    }
    await expectWhole(store, 'acme', 860);
    await expectWhole(store, 'globex', 12);
    const notes = await sql<{
      note: string;
    }>`SELECT note FROM log_checkpoints WHERE tenant = 'acme' ORDER BY size`.execute(store.db);
    expect(notes.rows).toHaveLength(6);
    expect(notes.rows[0]?.note).toMatch(/^capstan\/[0-9a-f-]{36}\/acme\n1\n\S{44}\n\n— capstan\S+ \S+\n$/);
  });

  test('is split into batches that end within a transaction, and loses nothing between them', async () => {
    const store = await openTestStore();
    await denied(store, 25);
    const sizes: number[] = [];
    while (await hasDueForLog(store)) sizes.push(await appendToLog(store, null, { wait: true, limit: 10 }));
    expect(sizes.filter((size) => size > 0)).toEqual([10, 10, 5]);
    await expectWhole(store, 'acme', 25);
  });

  test('waits for a transaction that is older than the ends, and then has its rows in order', async () => {
    const store = await openTestStore();
    const late = newInvocation({ status: 'denied' });
    await store.db.transaction().execute(async (db) => {
      // It gets its number before the others, and writes its result after they have committed.
      await sql`SELECT pg_current_xact_id()`.execute(db);
      await denied(store, 3);
      expect(await hasDueForLog(store)).toBe(true);
      expect(await appendToLog(store, null)).toBe(0);
      await insertInvocations({ query: queryIn(db) }, [late]);
    });
    expect(await logAll(store)).toBe(4);
    const [record] = await readInvocationRecords(store.db, [late.invocation_id]);
    expect((await findLogEntries(store.db, 'acme', [record?.seq ?? ''])).get(record?.seq ?? '')?.index).toBe(0);
  });

  test('does not wait for a transaction in another database', async () => {
    const [store, elsewhere] = [await openTestStore(), await openTestStore()];
    await elsewhere.db.transaction().execute(async (db) => {
      await sql`SELECT pg_current_xact_id()`.execute(db);
      await denied(store, 3);
      expect(await logAll(store)).toBe(3);
    });
  });

  test('is appended to by one process at a time; several lose and repeat nothing', async () => {
    const store = await openTestStore();
    let ended = 0;
    const appenders = Array.from({ length: 4 }, async () => {
      while (ended < 200 || (await hasDueForLog(store))) await appendToLog(store, null, { limit: 7 });
    });
    for (; ended < 200; ended += 5) await denied(store, 5);
    await Promise.all(appenders);
    await expectWhole(store, 'acme', 200);
    const { rows } = await sql<{ seqs: number }>`
      SELECT count(DISTINCT seq)::int AS seqs FROM log_batches, unnest(seqs) AS seq`.execute(store.db);
    expect(rows[0]?.seqs).toBe(200);
  });

  test('is appended to in smaller batches if Postgres refuses one as too large', async () => {
    const store = await openTestStore();
    await denied(store, 12);
    await sql`
      CREATE FUNCTION too_large() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        RAISE EXCEPTION 'too large' USING ERRCODE = 'program_limit_exceeded';
      END $$`.execute(store.db);
    await sql`CREATE TRIGGER too_large BEFORE INSERT ON log_batches
      FOR EACH ROW WHEN (cardinality(NEW.seqs) > 5) EXECUTE FUNCTION too_large()`.execute(store.db);
    expect(await logAll(store)).toBe(12);
    await expectWhole(store, 'acme', 12);
  });

  test('has neither a batch nor a moved cursor if the process fails in between', async () => {
    const store = await openTestStore();
    await denied(store, 3);
    const broken = {
      ...key,
      sign: () => {
        throw new Error('the process is gone');
      },
    };
    await expect(logAll(store, broken)).rejects.toThrow('gone');
    expect(await readCheckpoint(store.db, 'acme')).toBeUndefined();
    expect(await logAll(store, key)).toBe(3);
    await expectWhole(store, 'acme', 3);
  });

  test.each([
    ['another cluster', sql`system_identifier = 'another'`],
    ['a cluster that has counted less far', sql`xid = '900000000000', system_identifier = NULL`],
  ])('continues by seq after a dump was restored to %s', async (_, moved) => {
    const store = await openTestStore();
    const { db } = store;
    await denied(store, 5);
    await logAll(store);
    // The state in the original cluster: entries in the log, and ends that were not in it yet.
    await sql`UPDATE results SET xid = '800000000000'`.execute(db);
    await denied(store, 2);
    await sql`UPDATE results SET xid = '900000000001' WHERE xid < '800000000000'`.execute(db);
    await sql`UPDATE log_cursor SET xid = '900000000000', seq = 0`.execute(db);
    await sql`UPDATE log_cursor SET ${moved}`.execute(db);
    await denied(store, 3);
    expect(await logAll(store)).toBe(5);
    await expectWhole(store, 'acme', 10);
    await denied(store, 1);
    expect(await logAll(store)).toBe(1);
  });

  test.each(['UPDATE log_batches SET first = 7', 'DELETE FROM log_checkpoints', 'TRUNCATE log_nodes'])(
    'refuses %s',
    async (statement) => {
      const store = await openTestStore();
      await denied(store, 1);
      await logAll(store);
      await expect(sql.raw(statement).execute(store.db)).rejects.toThrow('append-only');
    },
  );
});

test('the digests of Postgres equal those of TypeScript', async () => {
  const store = await openTestStore();
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ unit: 'grapheme' }).filter((value) => !value.includes('\u0000'))),
      async (texts) => {
        const { rows } = await sql<{ hash: number }>`
        SELECT hashtext(t) AS hash FROM unnest(${texts}::text[]) WITH ORDINALITY AS u (t, place) ORDER BY place`.execute(
          store.db,
        );
        expect(rows.map(({ hash }) => hash)).toEqual(texts.map(postgresHash));
      },
    ),
    { numRuns: 200 },
  );
});
