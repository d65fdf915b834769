import { Failure, loneInvocationId, type Page, type Run, type RunStatus } from '@capstan/contracts';
import { sql } from 'kysely';
import type { Store } from '../open-store.js';

const LIVE = sql`('held', 'deferred', 'queued', 'running')`;

/** A lone invocation answers as a run of one step. */
const LONE = sql`
  SELECT seq, 'run_' || substr(invocation_id, 5) AS run_id, 'lone' AS kind, tenant, actor, 1 AS total_steps,
    (status = 'succeeded')::int AS completed_steps,
    (status IN ('denied', 'rejected'))::int AS denied_steps,
    (status IN ('failed', 'timed_out', 'expired', 'ambiguous'))::int AS failed_steps,
    (status = 'canceled')::int AS canceled_steps,
    (status IN ${LIVE})::int AS live_steps,
    created_at, finished_at
  FROM invocations WHERE run_id IS NULL`;

const COLUMNS = sql`run_id, kind, actor, total_steps, completed_steps, denied_steps, failed_steps, canceled_steps,
  live_steps, created_at, finished_at`;

type Row = Omit<Run, 'status'> & { canceled_steps: number; live_steps: number };
type ListedRow = Row & { seq: string };

const toRun = ({ canceled_steps, live_steps, ...run }: Row): Run => ({
  ...run,
  status: statusOf({ ...run, canceled_steps, live_steps }),
});

function statusOf(row: Row): RunStatus {
  if (row.live_steps > 0) return 'running';
  if (row.canceled_steps > 0) return 'canceled';
  return row.failed_steps + row.denied_steps > 0 ? 'failed' : 'completed';
}

export async function getRun(store: Store, tenant: string, run_id: string): Promise<Run | undefined> {
  if (!run_id.startsWith('run_')) return undefined;
  const { rows } = await sql<Row>`
    SELECT ${COLUMNS} FROM runs WHERE run_id = ${run_id} AND tenant = ${tenant}
    UNION ALL
    SELECT ${COLUMNS} FROM (${LONE} AND invocation_id = ${loneInvocationId(run_id)} AND tenant = ${tenant}) AS run`.execute(
    store.db,
  );
  return rows[0] && toRun(rows[0]);
}

/**
 * Newest first. Runs with a row and lone invocations are two lists, each in the order of its own sequence; a page merges
 * them by time, and the cursor says how far each was shown.
 */
export async function listRuns(
  store: Store,
  tenant: string,
  page: { limit: number; cursor?: string | undefined },
): Promise<Page<Run>> {
  const from = page.cursor ? decodeCursor(page.cursor) : START;
  const { rows: grouped } = await sql<ListedRow>`
    SELECT seq, ${COLUMNS} FROM runs WHERE tenant = ${tenant} AND seq < ${from.grouped}
    ORDER BY seq DESC LIMIT ${page.limit + 1}`.execute(store.db);
  const { rows: lone } = await sql<ListedRow>`
    SELECT seq, ${COLUMNS} FROM (${LONE} AND tenant = ${tenant} AND seq < ${from.lone}
      ORDER BY seq DESC LIMIT ${page.limit + 1}) AS run`.execute(store.db);

  const items: Run[] = [];
  const shown = { ...from };
  while (items.length < page.limit) {
    const next = newer(grouped[0], lone[0]);
    if (!next) break;
    (next === grouped[0] ? grouped : lone).shift();
    shown[next.kind === 'lone' ? 'lone' : 'grouped'] = next.seq;
    const { seq: _, ...row } = next;
    items.push(toRun(row));
  }
  return { items, next_cursor: grouped.length + lone.length > 0 ? encodeCursor(shown) : null };
}

const newer = (a: ListedRow | undefined, b: ListedRow | undefined) =>
  a && b ? (instant(a) >= instant(b) ? a : b) : (a ?? b);
/** Postgres drops trailing zeros; without the Z, times compare as text all the same. */
const instant = ({ created_at }: ListedRow) => created_at.slice(0, -1);

type Cursor = { grouped: string; lone: string };
const START: Cursor = { grouped: '9223372036854775807', lone: '9223372036854775807' };
const encodeCursor = ({ grouped, lone }: Cursor) => `${grouped}.${lone}`;

function decodeCursor(cursor: string): Cursor {
  const [, grouped, lone] = /^(\d{1,19})\.(\d{1,19})$/.exec(cursor) ?? [];
  if (!grouped || !lone)
    throw new Failure('INVALID_REQUEST', { detail: 'cursor: take it from next_cursor of the page before.' });
  return { grouped, lone };
}
