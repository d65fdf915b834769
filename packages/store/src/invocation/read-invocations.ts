import {
  type Attempt,
  type Invocation,
  type InvocationFilter,
  isTerminal,
  loneRunId,
  type Page,
} from '@capstan/contracts';
import { sql } from 'kysely';
import type { Db } from '../open-store.js';
import { type PageWanted, pageOf } from '../page-of.js';
import { matching } from './filter-invocations.js';
import { isResult } from './load-outcomes.js';

const select = (db: Db) =>
  db
    .selectFrom('invocations')
    .leftJoin('results', 'results.invocation_id', 'invocations.invocation_id')
    .leftJoin('holds', 'holds.invocation_id', 'invocations.invocation_id')
    .select([
      'invocations.seq',
      'invocations.invocation_id',
      'invocations.run_id',
      'invocations.tool_id',
      'invocations.runner',
      'invocations.status',
      'invocations.actor',
      'invocations.inputs',
      'invocations.input_hash',
      'invocations.descriptor_hash',
      'invocations.policy_hash',
      'invocations.decision',
      'holds.hold_id',
      'invocations.mode',
      'invocations.session_id',
      'invocations.idempotency_key',
      'invocations.priority',
      'invocations.timeout_ms',
      'invocations.max_attempts',
      'invocations.attempt',
      'invocations.labels',
      'invocations.run_at',
      'invocations.expires_at',
      'invocations.created_at',
      'invocations.finished_at',
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
  const { result_input_hash, output_hash, chain_hash, removed_at, ...invocation } = rest;
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
    run_id: invocation.run_id ?? loneRunId(invocation.invocation_id),
    result: isTerminal(invocation.status) && isResult(result) ? result : null,
  };
}

export async function getInvocation(db: Db, tenant: string, invocation_id: string): Promise<Invocation | undefined> {
  const row = await select(db)
    .where('invocations.tenant', '=', tenant)
    .where('invocations.invocation_id', '=', invocation_id)
    .executeTakeFirst();
  return row && toInvocation(row);
}

export async function getByIdempotencyKeys(db: Db, tenant: string, keys: string[]): Promise<Invocation[]> {
  const rows = await select(db)
    .where('invocations.tenant', '=', tenant)
    .where('invocations.idempotency_key', 'in', keys)
    .execute();
  return rows.map(toInvocation);
}

/** Newest first; the cursor is the last row's sequence number. */
export async function listInvocations(
  db: Db,
  tenant: string,
  filter: InvocationFilter,
  page: PageWanted,
): Promise<Page<Invocation>> {
  let query = select(db)
    .where(matching(tenant, filter))
    .orderBy('invocations.seq', 'desc')
    .limit(page.limit + 1);
  if (page.cursor) query = query.where('invocations.seq', '<', page.cursor);
  const rows = await query.execute();
  return pageOf(rows, page.limit, toInvocation);
}

/** Those that ended, and the one under way. */
export async function listAttempts(db: Db, invocation_id: string): Promise<Attempt[]> {
  const { rows } = await sql<Attempt>`
    SELECT attempt, worker_id, started_at, ended_at, outcome, error FROM attempts WHERE invocation_id = ${invocation_id}
    UNION ALL
    SELECT attempt, worker_id, started_at, NULL, NULL, NULL FROM invocations
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
