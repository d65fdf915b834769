import { chainStart, type SealKey } from '@capstan/integrity';
import { sql } from 'kysely';
import { appendAudit } from '../audit/append-audit.js';
import type { Db, Store } from '../open-store.js';
import {
  nextInvocations,
  type ReadEntry,
  readInvocationEntries,
  readRunEntry,
  readStepEntries,
} from '../record/read-entries.js';
import { lockSeals } from './lock-seals.js';
import { chainEntries, writeLinks } from './write-links.js';
import { writeSeals } from './write-seals.js';

const BATCH = 500;

type Sealing = { tenant: string; kind: 'bulk' | 'plan'; plan_hash: string | null; policy_hash: string | null };
type Tail = { place: number; kind: ReadEntry['kind']; id: string; chain_hash: string };

/**
 * Seals a run that has a row, batch by batch. The links that are written are the memory of how far it is: whoever comes
 * next, after a crash or at the same time, goes on from there. `missing`: no such run · `live`: it has not ended.
 */
export async function sealRun(
  store: Store,
  run_id: string,
  key: SealKey | null,
  /** Between two batches: whoever is in no hurry rests there. */
  rest: () => Promise<void> = async () => {},
): Promise<'sealed' | 'live' | 'missing'> {
  while (true) {
    const done = await store.db.transaction().execute((db) => sealMore(db, run_id, key));
    if (done !== 'more') return done;
    await rest();
  }
}

async function sealMore(db: Db, run_id: string, key: SealKey | null): Promise<'sealed' | 'live' | 'missing' | 'more'> {
  await lockSeals(db, [run_id]);
  const { rows } = await sql<Sealing & { sealed: boolean; over: boolean }>`
    SELECT tenant, kind, plan_hash, policy_hash, live_steps = 0 AND finished_at IS NOT NULL AS over,
      EXISTS (SELECT FROM seals s WHERE s.run_id = r.run_id AND s.voided_at IS NULL) AS sealed
    FROM runs r WHERE run_id = ${run_id}`.execute(db);
  const [run] = rows;
  if (!run) return 'missing';
  if (run.sealed) return 'sealed';
  if (!run.over) return 'live';
  const tail = await readTail(db, run_id);
  const entries = await nextEntries(db, run_id, run.kind, tail);
  const links = chainEntries(entries, tail ?? { place: -1, chain_hash: chainStart(run_id) });
  await writeLinks(
    db,
    links.map((link) => ({ ...link, run_id })),
  );
  if (entries.length > 0) return 'more';
  await finish(db, run_id, run, tail, key);
  return 'sealed';
}

async function readTail(db: Db, run_id: string): Promise<Tail | null> {
  const { rows } = await sql<Tail>`
    SELECT place, kind, id, chain_hash FROM seal_links WHERE run_id = ${run_id} ORDER BY place DESC LIMIT 1`.execute(
    db,
  );
  return rows[0] ?? null;
}

/** The order of a chain: the run itself, its steps in the order of the plan, its invocations in the order of submission. */
async function nextEntries(db: Db, run_id: string, kind: Sealing['kind'], tail: Tail | null): Promise<ReadEntry[]> {
  const entries: ReadEntry[] = [];
  if (!tail) {
    const run = await readRunEntry(db, run_id);
    if (run) entries.push(run);
  }
  if (kind === 'plan' && tail?.kind !== 'invocation') {
    const steps = await readStepEntries(db, run_id, tail?.kind === 'step' ? tail.id : null, BATCH);
    entries.push(...steps);
    if (steps.length === BATCH) return entries;
  }
  const after = tail?.kind === 'invocation' ? await seqOf(db, tail.id) : '0';
  const ids = await nextInvocations(db, run_id, after, BATCH);
  return [...entries, ...(await readInvocationEntries(db, ids, 'sealed'))];
}

async function seqOf(db: Db, invocation_id: string): Promise<string> {
  const row = await db
    .selectFrom('invocations')
    .select('seq')
    .where('invocation_id', '=', invocation_id)
    .executeTakeFirst();
  if (!row) throw new Error(`${invocation_id} is gone while its run is sealed`);
  return row.seq;
}

async function finish(db: Db, run_id: string, run: Sealing, tail: Tail | null, key: SealKey | null): Promise<void> {
  const root = tail?.chain_hash ?? chainStart(run_id);
  const count = (tail?.place ?? -1) + 1;
  const { tenant, plan_hash, policy_hash } = run;
  await writeSeals(
    db,
    [{ run_id, tenant, root, count, first_id: run_id, last_id: tail?.id ?? null, plan_hash, policy_hash }],
    key,
  );
  await db.updateTable('runs').set({ sealed: true }).where('run_id', '=', run_id).execute();
  // Kept apart from the seal: should the seal be gone one day, this says that there was one.
  await appendAudit(db, [{ tenant, actor: 'system', event: 'run.seal', subject: run_id, detail: { root, count } }]);
}
