import {
  type Attempt,
  deniedAtRun,
  type Invocation,
  type InvocationCounts,
  type InvocationFilter,
  isTerminal,
  loneRunId,
  type Page,
} from '@capstan/contracts';
import { type RawBuilder, sql } from 'kysely';
import { chainHash, findLogEntries } from '../merkle/find-log-entries.js';
import type { Db } from '../open-store.js';
import { type PageWanted, pageOf } from '../page-of.js';
import { inAnyStatus, inStatuses, matching, ofOneKind } from './filter-invocations.js';
import { isResult } from './load-outcomes.js';

const select = (db: Db) =>
  db
    .selectFrom('invocation_states')
    .leftJoin('results', 'results.invocation_id', 'invocation_states.invocation_id')
    .leftJoin('holds', 'holds.invocation_id', 'invocation_states.invocation_id')
    .leftJoin('runs', 'runs.run_id', 'invocation_states.run_id')
    .select([
      'invocation_states.seq',
      'invocation_states.invocation_id',
      'invocation_states.run_id',
      'invocation_states.tool_id',
      'invocation_states.runner',
      'invocation_states.status',
      'invocation_states.actor',
      'invocation_states.inputs',
      'invocation_states.input_hash',
      'invocation_states.descriptor_hash',
      'invocation_states.policy_hash',
      'invocation_states.decision',
      'holds.hold_id',
      'invocation_states.mode',
      'invocation_states.session_id',
      'invocation_states.idempotency_key',
      'invocation_states.priority',
      'invocation_states.timeout_ms',
      'invocation_states.max_attempts',
      'invocation_states.attempt',
      'invocation_states.labels',
      'invocation_states.run_at',
      'invocation_states.expires_at',
      'invocation_states.created_at',
      'invocation_states.finished_at',
      'invocation_states.started_at',
      'runs.replay_of',
    ])
    .select([
      'results.success',
      'results.payload',
      'results.error',
      'results.code',
      'results.declared_side_effects',
      'results.artifacts',
      'results.facts',
      'results.duration_ms',
      'results.exit_code',
      'results.truncated',
      'results.input_hash as result_input_hash',
      'results.output_hash',
      'results.chain_hash',
      'results.removed_at',
      'results.seq as log_seq',
    ]);

type Row = Awaited<ReturnType<ReturnType<typeof select>['executeTakeFirstOrThrow']>>;

function toInvocation(row: Row): Invocation {
  const {
    seq: _,
    success,
    payload,
    error,
    code,
    declared_side_effects,
    artifacts,
    facts,
    duration_ms,
    exit_code,
    truncated,
    ...rest
  } = row;
  const { result_input_hash, output_hash, chain_hash, removed_at, log_seq: _log_seq, ...about } = rest;
  const { replay_of, started_at, ...invocation } = about;
  const decision = deniedAtRun(invocation, { error, payload });
  const result = {
    success,
    payload,
    error,
    code,
    declared_side_effects,
    artifacts,
    facts,
    duration_ms,
    exit_code,
    truncated,
    input_hash: result_input_hash,
    output_hash,
    chain_hash,
    ...(removed_at === null ? {} : { removed_at }),
  };
  return {
    ...invocation,
    decision: decision ?? invocation.decision,
    run_id: invocation.run_id ?? loneRunId(invocation.invocation_id),
    result: isTerminal(invocation.status) && isResult(result) ? result : null,
    // A result that a replay copied has no start time.
    ...(replay_of !== null && started_at === null && isResult(result) ? { replay_of } : {}),
  };
}

/** Adds the chain hash from the log to ended calls. Results are written once, before their leaf exists, so they do not have it. */
async function withChainHashes(db: Db, tenant: string, rows: readonly Row[]): Promise<Row[]> {
  const seqs = rows.flatMap(({ log_seq, chain_hash, success }) =>
    log_seq === null || chain_hash !== null || success === null ? [] : [log_seq],
  );
  const entries = await findLogEntries(db, tenant, seqs);
  return rows.map((row) => {
    const entry = row.log_seq === null || row.chain_hash !== null ? undefined : entries.get(row.log_seq);
    return entry ? { ...row, chain_hash: chainHash(entry) } : row;
  });
}

export async function getInvocation(db: Db, tenant: string, invocation_id: string): Promise<Invocation | undefined> {
  const row = await select(db)
    .where('invocation_states.tenant', '=', tenant)
    .where('invocation_states.invocation_id', '=', invocation_id)
    .executeTakeFirst();
  const [found] = row ? await withChainHashes(db, tenant, [row]) : [];
  return found && toInvocation(found);
}

export async function getByIdempotencyKeys(db: Db, tenant: string, keys: string[]): Promise<Invocation[]> {
  const rows = await select(db)
    .where('invocation_states.tenant', '=', tenant)
    .where('invocation_states.idempotency_key', 'in', keys)
    .execute();
  return (await withChainHashes(db, tenant, rows)).map(toInvocation);
}

/** Newest first; the cursor is the last row's sequence number. */
export async function listInvocations(
  db: Db,
  tenant: string,
  filter: InvocationFilter,
  page: PageWanted,
): Promise<Page<Invocation>> {
  const from = listedFrom(tenant, filter);
  const found = from ? await listByIds(db, from, page) : await listMixed(db, tenant, filter, page);
  const rows = await withChainHashes(db, tenant, found);
  return pageOf(rows, page.limit, toInvocation);
}

/** Null if the status can only be read from the view. */
function listedFrom(tenant: string, filter: InvocationFilter): RawBuilder<unknown> | null {
  if (!filter.status) return inAnyStatus(tenant, filter);
  const statuses = ofOneKind(filter);
  return statuses && inStatuses(tenant, statuses, filter);
}

async function listByIds(db: Db, from: RawBuilder<unknown>, { limit, cursor }: PageWanted): Promise<Row[]> {
  const { rows: found } = await sql<{ invocation_id: string }>`
    SELECT i.invocation_id ${from} ${cursor ? sql`AND i.seq < ${cursor}` : sql``} ORDER BY i.seq DESC LIMIT ${limit + 1}`.execute(
    db,
  );
  const ids = found.map((row) => row.invocation_id);
  // Sorted here: asked for an order, Postgres would walk through all calls in that order.
  const rows = await select(db).where('invocation_states.invocation_id', '=', sql<string>`ANY (${ids})`).execute();
  return rows.sort((a, b) => ids.indexOf(a.invocation_id) - ids.indexOf(b.invocation_id));
}

function listMixed(db: Db, tenant: string, filter: InvocationFilter, { limit, cursor }: PageWanted): Promise<Row[]> {
  const query = select(db).where(matching(tenant, filter));
  return (cursor ? query.where('invocation_states.seq', '<', cursor) : query)
    .orderBy('invocation_states.seq', 'desc')
    .limit(limit + 1)
    .execute();
}

const MAX_COUNTED = 100_000;
const MAX_NAMES = 20;

type Count = Pick<Invocation, 'status' | 'runner' | 'tool_id' | 'actor'> & { count: number };

/** Counts the matching invocations by the columns that people filter by; only the newest MAX_COUNTED are counted. */
export async function countInvocations(db: Db, tenant: string, filter: InvocationFilter): Promise<InvocationCounts> {
  const statuses = ofOneKind(filter);
  const picked = statuses
    ? sql`SELECT e.status, i.runner, i.tool_id, i.actor ${inStatuses(tenant, statuses, filter)} ORDER BY i.seq DESC`
    : sql`SELECT status, runner, tool_id, actor FROM invocation_states WHERE ${matching(tenant, filter)} ORDER BY seq DESC`;
  const { rows } = await sql<Count>`
    SELECT status, runner, tool_id, actor, count(*)::int AS count
    FROM (${picked} LIMIT ${MAX_COUNTED + 1}) AS picked GROUP BY status, runner, tool_id, actor`.execute(db);
  const total = rows.reduce((sum, { count }) => sum + count, 0);
  return {
    total: Math.min(total, MAX_COUNTED),
    status: sumBy(rows, ({ status }) => status),
    runner: sumBy(rows, ({ runner }) => runner),
    tool_id: sumBy(rows, ({ tool_id }) => tool_id),
    actor: sumBy(rows, ({ actor }) => actor),
    capped: total > MAX_COUNTED,
  };
}

function sumBy<Row extends { count: number }>(rows: readonly Row[], nameOf: (row: Row) => string) {
  const sums = new Map<string, number>();
  for (const row of rows) sums.set(nameOf(row), (sums.get(nameOf(row)) ?? 0) + row.count);
  return Object.fromEntries([...sums].sort(([, a], [, b]) => b - a).slice(0, MAX_NAMES));
}

/** The ended attempts, and the current one. */
export async function listAttempts(db: Db, invocation_id: string): Promise<Attempt[]> {
  const { rows } = await sql<Attempt>`
    SELECT attempt, worker_id, started_at, ended_at, outcome, error FROM ended_attempts WHERE invocation_id = ${invocation_id}
    UNION ALL
    SELECT attempt, worker_id, started_at, NULL, NULL, NULL FROM invocation_states
    WHERE invocation_id = ${invocation_id} AND status = 'running'
    ORDER BY attempt`.execute(db);
  return rows;
}

export async function getExistingIds(db: Db, ids: string[]): Promise<Set<string>> {
  const rows = await db
    .selectFrom('invocations')
    .select('invocation_id')
    .where('invocation_id', '=', sql<string>`ANY (${ids})`)
    .execute();
  return new Set(rows.map((row) => row.invocation_id));
}
