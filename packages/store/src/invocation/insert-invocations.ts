import type { Decision, InvocationStatus, JsonObject, Role, RunnerType } from '@capstan/contracts';
import { submissionEvents } from '../audit/submission-events.js';
import { warnAt } from '../hold/warn-at.js';
import type { Statement, Store } from '../open-store.js';
import type { BoxedDeliveries } from '../outbox/outbox.js';
import { countOf, STEP_COUNTS } from '../run/tally.js';
import { notify } from '../signal/channel.js';

export type NewInvocation = {
  invocation_id: string;
  tenant: string;
  actor: string;
  roles: Role[];
  run_id: string | null;
  tool_id: string;
  runner: RunnerType;
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
  status: InvocationStatus;
  run_at: string | null;
  delay_ms: number | null;
  expires_in_ms: number | null;
  /** Whatever fails is tried again, after so long at first; absent where only what may pass is. */
  retry_backoff_ms?: number | null;
  /** Whether an endpoint of its tenant is told how it ends; with a webhook_url it is watched anyway. */
  watched?: true | undefined;
  /** The quotas that it comes under; absent for most. */
  quota_scopes?: string[] | undefined;
  /** What it is expected to cost, for the budgets among them. */
  cost_units?: number | undefined;
};

export type Inserted = { created_at: string; inserted: number };

/**
 * One statement commits all rows and what the audit says of them, writes one outbox row for the lot, and clears outbox
 * rows that were delivered since.
 * Inputs travel as text within the JSON: Postgres' JSON functions refuse \\u0000, its `json` type does not.
 * What is held gets its hold in the same breath; only its rows are carried along whole for that.
 * The caller compares `inserted` with what it sent: fewer means that idempotency keys were known already, or that a step had
 * been called before. Of plans that have moved on ($8, $9) nothing is inserted.
 */
const INSERT: Statement = {
  name: 'insert-invocations',
  text: `
    WITH inserted AS (
      INSERT INTO invocations (invocation_id, tenant, actor, roles, run_id, tool_id, runner, inputs, input_hash,
        descriptor_hash, policy_hash, decision, mode, session_id, idempotency_key, idempotent, spec_frozen, spec_hash,
        priority, timeout_ms, max_attempts, webhook_url, labels, retry_backoff_ms, watched, quota_scopes, status, run_at, expires_at, finished_at)
      SELECT invocation_id, tenant, actor, roles, run_id, tool_id, runner, inputs::json, input_hash,
        descriptor_hash, policy_hash, decision, mode, session_id, idempotency_key, idempotent, spec_frozen, spec_hash,
        priority, timeout_ms, max_attempts, webhook_url, labels, retry_backoff_ms,
        CASE WHEN watched OR webhook_url IS NOT NULL THEN true END, quota_scopes, status,
        coalesce(run_at, now() + delay_ms * interval '1 millisecond'),
        now() + expires_in_ms * interval '1 millisecond',
        CASE WHEN status = 'denied' THEN now() END
      FROM json_to_recordset($1::json) AS input (invocation_id text, tenant text, actor text, roles text[], run_id text, tool_id text,
        runner text, inputs text, input_hash text, descriptor_hash text, policy_hash text, decision json, mode text,
        session_id text, idempotency_key text, idempotent boolean, spec_frozen boolean, spec_hash text, priority int,
        timeout_ms int, max_attempts int, webhook_url text, labels jsonb, retry_backoff_ms int, watched boolean, quota_scopes text[], status text, run_at timestamptz,
        delay_ms bigint, expires_in_ms bigint)
      WHERE $8::text[] IS NULL OR (
        SELECT count(*) FROM unnest($8::text[], $9::int[]) AS turn (run_id, seq) JOIN plan_runs p USING (run_id, seq)
      ) = cardinality($8::text[])
      ON CONFLICT DO NOTHING
      RETURNING invocation_id, status, CASE WHEN status = 'held' THEN invocations END AS held
    ), parked AS (
      INSERT INTO holds (hold_id, invocation_id, tenant, actor, tool_id, approvals, expires_in_ms, expires_at, warn_at)
      SELECT 'hld_' || substr((held).invocation_id, 5), (held).invocation_id, (held).tenant, (held).actor, (held).tool_id,
        (held).decision -> 'approvals', extract(epoch FROM expires_at - now()) * 1000, expires_at,
        ${warnAt('expires_at - now()')}
      FROM inserted, LATERAL (SELECT coalesce((held).expires_at, now() + interval '1 day') AS expires_at) AS until
      WHERE status = 'held'
    ), boxed AS (
      INSERT INTO outbox (outbox_id, deliveries) SELECT $2, $3::json WHERE $2::text IS NOT NULL
    ), grouped AS (
      INSERT INTO runs (run_id, tenant, actor, kind, total_steps, ${STEP_COUNTS.join(', ')}, finished_at)
      SELECT run_id, tenant, actor, 'bulk', (SELECT count(*) FROM inserted),
        ${STEP_COUNTS.map((count) => countOf('inserted', count)).join(', ')},
        CASE WHEN ${countOf('inserted', 'live_steps')} = 0 THEN now() END
      FROM json_to_record($5::json) AS run (run_id text, tenant text, actor text)
      WHERE $5::json IS NOT NULL
    ), audited AS (
      INSERT INTO audit (tenant, actor, event, subject, detail)
      SELECT tenant, actor, event, subject, detail
      FROM json_to_recordset($7::json) AS e (tenant text, actor text, event text, subject text, detail json, only_with text)
      WHERE CASE WHEN only_with IS NULL THEN $8::text[] IS NULL OR EXISTS (SELECT FROM inserted)
        ELSE only_with IN (SELECT invocation_id FROM inserted) END
    ), unboxed AS (
      DELETE FROM outbox WHERE outbox_id = ANY ($4::text[])
    )
    SELECT now() AS created_at, (SELECT count(*)::int FROM inserted) AS inserted,
      (SELECT count(${notify('signal')}) FROM unnest($6::text[]) AS signal)`,
};

export type NewRun = { run_id: string; tenant: string; actor: string };

type Together = {
  outbox?: BoxedDeliveries | null;
  /** Outbox rows that have reached the queue since. */
  delivered?: string[];
  /** The run that a bulk submission is. */
  run?: NewRun | null;
  /** Sent to every process as the rows are committed. */
  signals?: string[];
  /** The runs whose turn it is, as they stood at its beginning. */
  turn?: readonly { run_id: string; seq: number }[] | null;
};

export async function insertInvocations(
  store: Pick<Store, 'query'>,
  rows: NewInvocation[],
  { outbox = null, delivered = [], run = null, signals = [], turn = null }: Together = {},
): Promise<Inserted> {
  const [inserted] = await unlessDeadlocked(() =>
    store.query<Inserted>(INSERT, [
      JSON.stringify(rows.map(toInput)),
      outbox?.outbox_id ?? null,
      outbox ? JSON.stringify(outbox.deliveries) : null,
      delivered,
      run ? JSON.stringify(run) : null,
      signals,
      JSON.stringify(submissionEvents(rows)),
      turn?.map(({ run_id }) => run_id) ?? null,
      turn?.map(({ seq }) => seq) ?? null,
    ]),
  );
  if (!inserted) throw new Error('insert-invocations answered no row');
  return inserted;
}

/** Null members are left out: most rows have many, and Postgres reads JSON slower than it writes rows. */
const toInput = (row: NewInvocation) => ({
  ...row,
  inputs: JSON.stringify(row.inputs),
  run_id: row.run_id ?? undefined,
  session_id: row.session_id ?? undefined,
  idempotency_key: row.idempotency_key ?? undefined,
  spec_frozen: row.spec_frozen ?? undefined,
  spec_hash: row.spec_hash ?? undefined,
  webhook_url: row.webhook_url ?? undefined,
  run_at: row.run_at ?? undefined,
  delay_ms: row.delay_ms ?? undefined,
  expires_in_ms: row.expires_in_ms ?? undefined,
});

const DEADLOCK = '40P01';

/** Two batches that share idempotency keys in opposite orders; sorting them would cost the order of submission. */
async function unlessDeadlocked<T>(statement: () => Promise<T>, tries = 5): Promise<T> {
  try {
    return await statement();
  } catch (error) {
    const deadlocked = error instanceof Error && 'code' in error && error.code === DEADLOCK;
    if (!deadlocked || tries <= 1) throw error;
    return unlessDeadlocked(statement, tries - 1);
  }
}
