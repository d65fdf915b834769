import type { Decision, InvocationStatus, JsonObject, QueueName, Role } from '@capstan/contracts';
import { submissionEvents } from '../audit/submission-events.js';
import { warnAt } from '../hold/warn-at.js';
import { inCommon } from '../in-common.js';
import type { Statement, Store } from '../open-store.js';
import { countOf, STEP_COUNTS } from '../run/tally.js';
import { notify } from '../signal/channel.js';
import { insertAlike } from './insert-alike.js';
import { isAlike } from './is-alike.js';
import { turnStands } from './turn-stands.js';

/** The initial status of an invocation. */
export type AdmittedStatus = Extract<InvocationStatus, 'denied' | 'held' | 'deferred' | 'queued'>;

export type NewInvocation = {
  invocation_id: string;
  tenant: string;
  actor: string;
  roles: Role[];
  run_id: string | null;
  tool_id: string;
  runner: QueueName;
  inputs: JsonObject;
  input_hash: string;
  descriptor_hash: string;
  policy_hash: string;
  decision: Decision;
  mode: 'execution' | 'planning';
  session_id: string | null;
  idempotency_key: string | null;
  idempotent: boolean;
  spec_frozen: boolean | null;
  spec_hash: string | null;
  priority: number;
  timeout_ms: number;
  max_attempts: number;
  webhook_url: string | null;
  labels: Record<string, string>;
  status: AdmittedStatus;
  run_at: string | null;
  delay_ms: number | null;
  expires_in_ms: number | null;
  /** If set, any failure is retried, and this is the first backoff; otherwise only transient failures are. */
  retry_backoff_ms?: number | null;
  /** Whether its end is reported to an endpoint of its tenant; with a webhook_url it always is reported. */
  watched?: true | undefined;
  /** The quotas that apply to it; absent for most. */
  quota_scopes?: string[] | undefined;
  /** Its expected cost, for budgets. */
  cost_units?: number | undefined;
  /** The span that submitted it; absent if tracing is off. */
  traceparent?: string | undefined;
};

/**
 * A receipt written together with its calls, so that no claim is needed. `worker_id` null: the queue delivers it, and the worker
 * that gets it takes ownership. `owned`: the worker may start at once. Only for idempotent calls, because a lost worker
 * leaves no trace of whether it started.
 */
export type HandOver = {
  claim_id: string;
  runner: QueueName;
  worker_id: string | null;
  owned: boolean;
  ids: string[];
  /** Sent to its worker if the receipt is written. */
  signals?: readonly string[];
};

export type Inserted = {
  created_at: string;
  inserted: number;
  /** The receipts that were written; the calls of the others wait in `work`. */
  handed: string[];
};

const OF_THIS_TURN = `WHERE $13::text[] IS NULL OR ${turnStands('$13', '$14')}`;

/**
 * In a turn of the plan engine, now() is when the turn began: a step denied or held after others have run would be dated before them.
 * Calls that are inserted together have one time, because the audit finds their common event by it.
 */
const NOW = 'statement_timestamp()';

/** Denials, holds, and the run of a bulk submission. */
const RARE = `), denied AS (
      INSERT INTO results (invocation_id, attempt, status, finished_at)
      SELECT invocation_id, 0, status, ${NOW} FROM inserted WHERE status = 'denied'
    ), told AS (
      INSERT INTO ends_to_tell SELECT invocation_id FROM inserted WHERE status = 'denied' AND watched
    ), parked AS (
      INSERT INTO holds (hold_id, invocation_id, tenant, actor, tool_id, approvals, expires_in_ms, created_at, expires_at, warn_at)
      SELECT 'hld_' || substr((held).invocation_id, 5), (held).invocation_id, (held).tenant, (held).actor, (held).tool_id,
        (held).decision -> 'approvals', extract(epoch FROM expires_at - ${NOW}) * 1000, ${NOW}, expires_at,
        ${warnAt(`expires_at - ${NOW}`)}
      FROM (SELECT held FROM inserted WHERE status = 'held') AS parked,
        LATERAL (SELECT coalesce((held).expires_at, ${NOW} + interval '1 day') AS expires_at) AS until
    ), grouped AS (
      INSERT INTO runs (run_id, tenant, actor, kind, total_steps, ${STEP_COUNTS.join(', ')}, finished_at)
      SELECT run_id, tenant, actor, 'bulk', (SELECT count(*) FROM inserted),
        ${STEP_COUNTS.map((count) => countOf('inserted', count)).join(', ')},
        CASE WHEN ${countOf('inserted', 'live_steps')} = 0 THEN ${NOW} END
      FROM json_to_record($15::json) AS run (run_id text, tenant text, actor text)
      WHERE $15::json IS NOT NULL
    `;

/**
 * One statement commits all rows, their audit events, and where each call goes: to a receipt, to `work`, or to its end. The
 * calls of a batch differ little, so the columns they share ($1) are sent and parsed once.
 * Inputs are sent as text: Postgres' JSON functions reject \\u0000, its `json` type accepts it.
 * The caller compares `inserted` with the number of rows it sent. Fewer means that idempotency keys exist already, or that a
 * step had been called before. If a plan run has moved on since it was read ($13, $14), nothing is inserted.
 *
 * $1 shared columns, $2 ids, $3 indexes into $1, $4 inputs, $5 their hashes, $6 idempotency keys, $7 receipts, $8 and $9 the
 * receipts and texts of messages to workers, $10 audit events, $11 signals, $12 the spans that submitted the calls. Only for
 * the general statement: $13 and $14 plan runs and their expected `seq`, $15 the run of a bulk submission.
 *
 * `plain`: all calls are queued, and there is no run or plan. Parts of a statement cost time even if they have nothing to do:
 * leaving them out saved a sixth of the time for a batch of 25.
 */
const insertion = (plain: boolean): Statement => ({
  name: plain ? 'insert-invocations-plain' : 'insert-invocations',
  text: `
    WITH inserted AS (
      INSERT INTO invocations (invocation_id, tenant, actor, roles, run_id, tool_id, runner, inputs, input_hash,
        descriptor_hash, policy_hash, decision, mode, session_id, idempotency_key, idempotent, spec_frozen, spec_hash,
        priority, timeout_ms, max_attempts, webhook_url, labels, retry_backoff_ms, watched, quota_scopes, run_at, expires_at,
        admitted, traceparent, created_at)
      SELECT row.invocation_id, c.tenant, c.actor, c.roles, c.run_id, c.tool_id, c.runner, row.inputs::json, row.input_hash,
        c.descriptor_hash, c.policy_hash, c.decision, c.mode, c.session_id, row.idempotency_key, c.idempotent, c.spec_frozen,
        c.spec_hash, c.priority, c.timeout_ms, c.max_attempts, c.webhook_url, c.labels, c.retry_backoff_ms,
        CASE WHEN c.watched OR c.webhook_url IS NOT NULL THEN true END, c.quota_scopes,
        coalesce(c.run_at, ${NOW} + c.delay_ms * interval '1 millisecond'), ${NOW} + c.expires_in_ms * interval '1 millisecond',
        c.status, row.traceparent, ${NOW}
      FROM unnest($2::text[], $3::int[], $4::text[], $5::text[], $6::text[], $12::text[])
          WITH ORDINALITY AS row (invocation_id, common, inputs, input_hash, idempotency_key, traceparent, place)
        JOIN json_to_recordset($1::json) AS c (common int, tenant text, actor text, roles text[], run_id text, tool_id text,
          runner text, descriptor_hash text, policy_hash text, decision json, mode text, session_id text, idempotent boolean,
          spec_frozen boolean, spec_hash text, priority int, timeout_ms int, max_attempts int, webhook_url text, labels jsonb,
          retry_backoff_ms int, watched boolean, quota_scopes text[], status text, run_at timestamptz, delay_ms bigint,
          expires_in_ms bigint) ON c.common = row.common
      ${plain ? '' : OF_THIS_TURN}
      ORDER BY row.place
      ON CONFLICT DO NOTHING
      RETURNING invocation_id, seq, tenant, runner, priority, run_at, expires_at, quota_scopes, watched, admitted AS status,
        ${plain ? 'NULL' : "CASE WHEN admitted = 'held' THEN invocations END"} AS held
    ), handed AS (
      INSERT INTO claims (claim_id, runner, worker_id, owned_at, ids, attempts, first_attempts)
      SELECT h.claim_id, h.runner, h.worker_id, CASE WHEN h.owned THEN ${NOW} END, h.ids, array_fill(1, ARRAY[cardinality(h.ids)]),
        array_fill(1, ARRAY[cardinality(h.ids)])
      FROM json_to_recordset($7::json) AS h (claim_id text, runner text, worker_id text, owned boolean, ids text[])
      WHERE NOT EXISTS (SELECT FROM unnest(h.ids) AS id
          WHERE (id IN (SELECT invocation_id FROM inserted
            WHERE status = 'queued' AND expires_at IS NULL AND quota_scopes IS NULL)) IS NOT TRUE)
        AND NOT EXISTS (SELECT FROM queues q WHERE q.runner = h.runner AND q.paused)
        AND (h.worker_id IS NULL OR EXISTS (
          SELECT FROM workers w WHERE w.worker_id = h.worker_id AND w.lease_until > now() AND NOT w.draining))
      RETURNING claim_id, ids
    ), waiting AS (
      INSERT INTO work (invocation_id, seq, tenant, runner, priority, status, run_at, expires_at, quota_scopes)
      SELECT invocation_id, seq, tenant, runner, priority, status, CASE WHEN status <> 'queued' THEN run_at END, expires_at,
        quota_scopes
      FROM inserted WHERE status <> 'denied' AND (invocation_id IN (SELECT unnest(ids) FROM handed)) IS NOT TRUE
    ${plain ? '' : RARE}    ), audited AS (
      INSERT INTO audit (tenant, actor, event, subject, detail, at)
      SELECT tenant, actor, event, subject, detail, ${NOW}
      FROM json_to_recordset($10::json) AS e (tenant text, actor text, event text, subject text, detail json, only_with text)
      WHERE CASE WHEN only_with IS NULL THEN ${plain ? 'true' : '$13::text[] IS NULL OR EXISTS (SELECT FROM inserted)'}
        ELSE only_with IN (SELECT invocation_id FROM inserted) END
    )
    SELECT ${NOW} AS created_at, (SELECT count(*)::int FROM inserted) AS inserted, ARRAY (SELECT claim_id FROM handed) AS handed,
      (SELECT count(${notify('signal')}) FROM unnest($8::text[], $9::text[]) AS h (claim_id, signal)
        WHERE h.claim_id IN (SELECT claim_id FROM handed)) AS given,
      (SELECT count(${notify('signal')}) FROM unnest($11::text[]) AS signal) AS told`,
});
const INSERT = insertion(false);
const INSERT_PLAIN = insertion(true);

export type NewRun = { run_id: string; tenant: string; actor: string };

export type Together = {
  /** Receipts for calls that go to workers or the queue with the commit. Calls with an idempotency key or an expiry go through `work`. */
  hand_over?: readonly HandOver[];
  /** The run of a bulk submission. */
  run?: NewRun | null;
  /** Sent to every process when the rows are committed. */
  signals?: readonly string[];
  /** The plan runs that these calls are steps of, each with its `seq` when it was read. */
  turn?: readonly { run_id: string; seq: number }[] | null;
};

export async function insertInvocations(
  /** The store itself, or a transaction on it. */
  store: Store | Pick<Store, 'query'>,
  rows: NewInvocation[],
  { hand_over = [], run = null, signals = [], turn = null }: Together = {},
): Promise<Inserted> {
  const queued = rows.every(({ status }) => status === 'queued');
  const { common, of, kinds } = inCommon(rows, commonOf, isAlike);
  // Not within a transaction: the fast path reports a refusal as an error, which would abort it.
  if (queued && kinds === 1 && 'transact' in store && rows.every(isPlain)) {
    const inserted = await insertAlike(store, rows, { hand_over, run, signals, turn });
    if (inserted) return inserted;
  }
  const values = [
    common,
    rows.map((row) => row.invocation_id),
    of,
    rows.map((row) => JSON.stringify(row.inputs)),
    rows.map((row) => row.input_hash),
    rows.map((row) => row.idempotency_key),
    JSON.stringify(
      hand_over.map(({ claim_id, runner, worker_id, owned, ids }) => ({ claim_id, runner, worker_id, owned, ids })),
    ),
    hand_over.flatMap(({ claim_id, signals: told = [] }) => told.map(() => claim_id)),
    hand_over.flatMap(({ signals: told = [] }) => told),
    JSON.stringify(submissionEvents(rows)),
    signals,
    rows.map((row) => row.traceparent),
  ];
  const plain = queued && run === null && turn === null;
  const rare = [
    turn?.map(({ run_id }) => run_id) ?? null,
    turn?.map(({ seq }) => seq) ?? null,
    run ? JSON.stringify(run) : null,
  ];
  const [inserted] = await unlessDeadlocked(() =>
    plain ? store.query<Inserted>(INSERT_PLAIN, values) : store.query<Inserted>(INSERT, [...values, ...rare]),
  );
  if (!inserted) throw new Error('insert-invocations answered no row');
  return inserted;
}

/** Whether the call waits only for a worker and cannot be a duplicate. */
const isPlain = (row: NewInvocation): boolean =>
  row.idempotency_key === null &&
  row.run_at === null &&
  row.delay_ms === null &&
  row.expires_in_ms === null &&
  row.quota_scopes === undefined;

/**
 * Everything but the id, the inputs and the key. Nulls are left out, because most rows have many. Written out, because a spread
 * costs more than everything else here.
 */
const commonOf = (row: NewInvocation): string =>
  JSON.stringify({
    tenant: row.tenant,
    actor: row.actor,
    roles: row.roles,
    run_id: row.run_id ?? undefined,
    tool_id: row.tool_id,
    runner: row.runner,
    descriptor_hash: row.descriptor_hash,
    policy_hash: row.policy_hash,
    decision: row.decision,
    mode: row.mode,
    session_id: row.session_id ?? undefined,
    idempotent: row.idempotent,
    spec_frozen: row.spec_frozen ?? undefined,
    spec_hash: row.spec_hash ?? undefined,
    priority: row.priority,
    timeout_ms: row.timeout_ms,
    max_attempts: row.max_attempts,
    webhook_url: row.webhook_url ?? undefined,
    labels: row.labels,
    retry_backoff_ms: row.retry_backoff_ms ?? undefined,
    watched: row.watched,
    quota_scopes: row.quota_scopes,
    status: row.status,
    run_at: row.run_at ?? undefined,
    delay_ms: row.delay_ms ?? undefined,
    expires_in_ms: row.expires_in_ms ?? undefined,
  });

const DEADLOCK = '40P01';

/**
 * Two batches with the same idempotency keys in opposite order deadlock, so the loser is retried. Sorting by key would avoid
 * that, but lose the order of submission.
 */
async function unlessDeadlocked<T>(statement: () => Promise<T>, tries = 5): Promise<T> {
  try {
    return await statement();
  } catch (error) {
    const deadlocked = error instanceof Error && 'code' in error && error.code === DEADLOCK;
    if (!deadlocked || tries <= 1) throw error;
    return unlessDeadlocked(statement, tries - 1);
  }
}
