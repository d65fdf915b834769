import { loneInvocationId, type Run } from '@capstan/contracts';
import type { Row } from '@capstan/integrity';
import { sql } from 'kysely';
import { chainHash, findLogEntries } from '../merkle/find-log-entries.js';
import type { Db, Store } from '../open-store.js';
import { nextInvocations, type ReadEntry, readInvocationEntries, readStepEntries } from './read-entries.js';

export type { ReadEntry };

const BATCH = 500;

/** The steps of a run's plan and then its invocations, page by page, whether they have ended or not. */
export async function* readRecord(
  { db }: Store,
  { run_id, kind }: Pick<Run, 'run_id' | 'kind'>,
): AsyncGenerator<ReadEntry[]> {
  if (kind === 'lone') {
    yield await readCalls(db, [loneInvocationId(run_id)]);
    return;
  }
  let step: string | null = null;
  while (kind === 'plan') {
    const steps: ReadEntry[] = await readStepEntries(db, run_id, step, BATCH);
    const last = steps.at(-1);
    if (!last) break;
    yield steps;
    step = last.id;
  }
  let seq = '0';
  while (true) {
    const entries = await readCalls(db, await nextInvocations(db, run_id, seq, BATCH));
    const last = entries.at(-1);
    if (!last?.seq) return;
    yield entries;
    seq = last.seq;
  }
}

type End = Row & { invocation_id: string; tenant: string; seq: string; attempt: number };

/** With the attempt that ended each call, which is stored with its result, and its leaf in the log. */
async function readCalls(db: Db, ids: readonly string[]): Promise<ReadEntry[]> {
  const calls = await readInvocationEntries(db, ids);
  const { rows } = await sql<End>`
    SELECT r.invocation_id, i.tenant, r.seq, r.attempt, r.worker_id, r.started_at, r.finished_at AS ended_at,
      coalesce(r.outcome, r.status) AS outcome, r.error
    FROM results r JOIN invocations i ON i.invocation_id = r.invocation_id
    WHERE r.invocation_id = ANY (${ids}) AND i.invocation_id = ANY (${ids})`.execute(db);
  const ends = new Map(rows.map((row) => [row.invocation_id, row]));
  const entries = await findLogEntries(
    db,
    rows[0]?.tenant ?? '',
    rows.map(({ seq }) => seq),
  );
  return calls.map((call) => {
    const end = ends.get(call.id);
    if (!end) return call;
    const attempts = call.tables.attempts ?? [];
    const known = end.started_at === null || attempts.some(({ attempt }) => attempt === end.attempt);
    const { tenant: _tenant, seq, ...last } = end;
    const entry = entries.get(seq);
    return {
      ...call,
      chain_hash: call.chain_hash ?? (entry ? chainHash(entry) : null),
      tables: { ...call.tables, attempts: known ? attempts : [...attempts, last] },
    };
  });
}
