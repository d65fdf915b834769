import {
  Failure,
  isRunOver,
  loneInvocationId,
  type Page,
  type Run,
  type RunDetail,
  type RunFilter,
} from '@capstan/contracts';
import { type RawBuilder, sql } from 'kysely';
import type { Store } from '../open-store.js';

const LIVE = sql`('held', 'deferred', 'queued', 'running')`;

/** A lone invocation is shown as a run of one step. */
const LONE = sql`
  SELECT seq, 'run_' || substr(invocation_id, 5) AS run_id, 'lone' AS kind, NULL::text AS status, tenant, actor,
    NULL::text AS name, NULL::text AS plan_hash, policy_hash, NULL::text AS reason, 0 AS skipped_steps, 1 AS total_steps,
    'execution' AS mode, NULL::text AS replay_of,
    (status = 'succeeded')::int AS completed_steps,
    (status IN ('denied', 'rejected'))::int AS denied_steps,
    (status IN ('failed', 'timed_out', 'expired', 'ambiguous'))::int AS failed_steps,
    (status = 'canceled')::int AS canceled_steps,
    (status IN ${LIVE})::int AS live_steps,
    EXISTS (SELECT FROM holds h WHERE h.invocation_id = invocation_states.invocation_id AND h.status = 'pending')::int
      AS held_steps,
    created_at, finished_at
  FROM invocation_states WHERE run_id IS NULL`;

/** Plans have a stored status; that of other runs follows from their counts. */
const STATUS = sql`coalesce(status, CASE WHEN live_steps > 0 THEN 'running' WHEN canceled_steps > 0 THEN 'canceled'
  WHEN failed_steps + denied_steps > 0 THEN 'failed' ELSE 'completed' END)`;
const COLUMNS = sql`run_id, kind, ${STATUS} AS status, actor, mode, replay_of, name, plan_hash, policy_hash, reason, total_steps,
  completed_steps, denied_steps, failed_steps, canceled_steps, skipped_steps, created_at, finished_at`;

type ListedRow = Run & { seq: string };

export async function getRun(store: Store, tenant: string, run_id: string): Promise<Run | undefined> {
  if (!run_id.startsWith('run_')) return undefined;
  const { rows } = await sql<Run>`
    SELECT ${COLUMNS}, 0 AS held_steps FROM runs WHERE run_id = ${run_id} AND tenant = ${tenant}
    UNION ALL
    SELECT ${COLUMNS}, held_steps FROM (${LONE} AND invocation_id = ${loneInvocationId(run_id)} AND tenant = ${tenant}) AS run`.execute(
    store.db,
  );
  const [run] = await withHeldSteps(store, tenant, rows);
  return run;
}

/**
 * The held steps of a plan or bulk are not tracked: they are counted on demand, and only while the run is active. Running attempts that
 * wait for an answer are included, because they need a person too.
 */
async function withHeldSteps<Row extends Run>(store: Store, tenant: string, runs: Row[]): Promise<Row[]> {
  const ids = runs.flatMap(({ run_id, kind, status }) => (kind === 'lone' || isRunOver(status) ? [] : [run_id]));
  if (ids.length === 0) return runs;
  const { rows } = await sql<{ run_id: string; count: number }>`
    SELECT i.run_id, count(*)::int AS count FROM holds h JOIN invocations i ON i.invocation_id = h.invocation_id
    WHERE h.tenant = ${tenant} AND h.status = 'pending' AND i.run_id = ANY (${ids}) GROUP BY i.run_id`.execute(
    store.db,
  );
  const counts = new Map(rows.map(({ run_id, count }) => [run_id, count]));
  return runs.map((run) => ({ ...run, held_steps: counts.get(run.run_id) ?? run.held_steps }));
}

/** Includes the inputs that a plan was started with. */
export async function getRunDetail(store: Store, tenant: string, run_id: string): Promise<RunDetail | undefined> {
  const run = await getRun(store, tenant, run_id);
  if (!run) return undefined;
  const planned =
    run.kind === 'plan'
      ? await store.db
          .selectFrom('plan_runs')
          .select(['plan', 'inputs', 'max_parallel', 'webhook_url'])
          .where('run_id', '=', run_id)
          .executeTakeFirst()
      : undefined;
  return { ...run, ...(planned ?? { plan: null, inputs: null, max_parallel: null, webhook_url: null }) };
}

type ListOptions = RunFilter & { limit: number; cursor?: string | undefined };

/**
 * Newest first. Runs with a row and lone invocations are two lists, each ordered by its own sequence. A page merges them by time, and the
 * cursor has the position in each.
 */
export async function listRuns(
  store: Store,
  tenant: string,
  { limit, cursor, ...filter }: ListOptions,
): Promise<Page<Run>> {
  const from = cursor ? decodeCursor(cursor) : START;
  const where = matching(filter);
  const { rows: grouped } = await sql<ListedRow>`
    SELECT seq, ${COLUMNS}, 0 AS held_steps FROM runs WHERE tenant = ${tenant} AND seq < ${from.grouped} AND ${where}
    ORDER BY seq DESC LIMIT ${mayBe(filter, false) ? limit + 1 : 0}`.execute(store.db);
  const { rows: lone } = await sql<ListedRow>`
    SELECT seq, ${COLUMNS}, held_steps FROM (${LONE} AND tenant = ${tenant} AND seq < ${from.lone}) AS run WHERE ${where}
    ORDER BY seq DESC LIMIT ${mayBe(filter, true) ? limit + 1 : 0}`.execute(store.db);

  const items: Run[] = [];
  const shown = { ...from };
  while (items.length < limit) {
    const next = newer(grouped[0], lone[0]);
    if (!next) break;
    (next === grouped[0] ? grouped : lone).shift();
    shown[next.kind === 'lone' ? 'lone' : 'grouped'] = next.seq;
    const { seq: _, ...run } = next;
    items.push(run);
  }
  return {
    items: await withHeldSteps(store, tenant, items),
    next_cursor: grouped.length + lone.length > 0 ? encodeCursor(shown) : null,
  };
}

/** True if lone invocations, or runs with a row, can match the filter at all. If not, that list is not read. */
const mayBe = ({ kind, name, plan_hash }: RunFilter, lone: boolean): boolean =>
  lone
    ? (kind?.includes('lone') ?? true) && name === undefined && plan_hash === undefined
    : (kind?.some((one) => one !== 'lone') ?? true);

function matching({ kind, status, actor, name, plan_hash, since, until }: RunFilter): RawBuilder<unknown> {
  const all = [sql`true`];
  if (kind) all.push(sql`kind = ANY (${kind})`);
  if (status) all.push(sql`${STATUS} = ANY (${status})`);
  if (actor !== undefined) all.push(sql`actor = ${actor}`);
  if (name !== undefined) all.push(sql`name = ${name}`);
  if (plan_hash !== undefined) all.push(sql`plan_hash = ${plan_hash}`);
  if (since) all.push(sql`created_at >= ${since}`);
  if (until) all.push(sql`created_at < ${until}`);
  return sql.join(all, sql` AND `);
}

const newer = (a: ListedRow | undefined, b: ListedRow | undefined) =>
  a && b ? (instant(a) >= instant(b) ? a : b) : (a ?? b);
/** Postgres drops trailing zeros of fractions. Without the Z, times still compare correctly as text. */
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
