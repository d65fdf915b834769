import { type Kysely, sql } from 'kysely';

/**
 * The ledger. An invocation is in exactly one place: in `work` while it waits, on a receipt in `claims` while a worker has
 * it, in `results` once it has ended. Its own row says what was asked and decided, and no move touches it.
 *
 * Before, each move updated one wide row, and every index with it: 4.7 kB of WAL a call, and claims that slowed down to a
 * fifth while anybody held a snapshot open. See docs/internals/ledger.md.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createWork(db);
  await createClaims(db);
  await extendResults(db);
  await moveRows(db);
  await narrowInvocations(db);
  await createView(db);
  await createAttemptsView(db);
}

/** No foreign keys, as elsewhere: a check for each row would lock the invocation. */
async function createWork(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE work (
      invocation_id text PRIMARY KEY,
      -- That of the invocation: within a tenant and a priority, first come, first served.
      seq bigint NOT NULL,
      tenant text NOT NULL,
      runner text NOT NULL,
      priority int NOT NULL,
      status text NOT NULL CHECK (status IN ('queued', 'deferred', 'held')),
      -- Attempts made so far, and where counting towards max_attempts starts.
      attempt int NOT NULL DEFAULT 0,
      first_attempt int NOT NULL DEFAULT 1,
      -- Deferred: when it is due; null while it waits for room under a quota.
      run_at timestamptz,
      -- Queued: when its backoff ends; null when it is ready.
      available_at timestamptz,
      expires_at timestamptz,
      quota_scopes text[]
    )`.execute(db);
  // The order of claims: from tenant to tenant, and within a tenant by priority.
  await sql`CREATE INDEX work_ready ON work (runner, tenant, priority, seq)
    WHERE status = 'queued' AND available_at IS NULL`.execute(db);
  // Apart, so that claims never step over retries that wait for their backoff.
  await sql`CREATE INDEX work_backing_off ON work (runner, available_at)
    WHERE status = 'queued' AND available_at IS NOT NULL`.execute(db);
  await sql`CREATE INDEX work_deferred ON work (run_at) WHERE status = 'deferred' AND run_at IS NOT NULL`.execute(db);
  await sql`CREATE INDEX work_expiring ON work (expires_at) WHERE expires_at IS NOT NULL`.execute(db);
  // The order of promotions: each set of scopes and each tenant is found without stepping over what another has waiting.
  await sql`CREATE INDEX work_awaiting_quota ON work (quota_scopes, tenant, priority, seq)
    WHERE quota_scopes IS NOT NULL AND status = 'deferred' AND run_at IS NULL`.execute(db);
  await sql`CREATE INDEX work_under_quota ON work (quota_scopes)
    WHERE quota_scopes IS NOT NULL AND status = 'queued'`.execute(db);
}

async function createClaims(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE claims (
      claim_id text PRIMARY KEY,
      runner text NOT NULL,
      -- Whom it was handed to; null while it is on its way through the queue.
      worker_id text,
      -- When its worker began; null while it may still be taken back unharmed.
      owned_at timestamptz,
      created_at timestamptz NOT NULL DEFAULT now(),
      -- The calls on this receipt. One that is retried leaves it; one that ends stays until the last one has.
      ids text[] NOT NULL CHECK (cardinality(ids) > 0),
      attempts int[] NOT NULL,
      first_attempts int[] NOT NULL,
      -- Those that somebody asked to cancel.
      canceled text[] NOT NULL DEFAULT '{}',
      -- Whether any of them takes up a quota.
      under_quota boolean NOT NULL DEFAULT false,
      -- Of a call that expires unless it is begun by then; such a call has a receipt to itself.
      expires_at timestamptz,
      CHECK (cardinality(ids) = cardinality(attempts) AND cardinality(ids) = cardinality(first_attempts)),
      CHECK (owned_at IS NULL OR worker_id IS NOT NULL)
    )`.execute(db);
  // What a worker holds, and what a lost one leaves behind.
  await sql`CREATE INDEX claims_of_worker ON claims (worker_id)`.execute(db);
  await sql`CREATE INDEX claims_unowned ON claims (created_at) WHERE owned_at IS NULL`.execute(db);
  await sql`CREATE INDEX claims_under_quota ON claims (claim_id) WHERE under_quota`.execute(db);
  await sql`CREATE INDEX claims_expiring ON claims (expires_at) WHERE owned_at IS NULL AND expires_at IS NOT NULL`.execute(
    db,
  );
}

/** Every end is a row here; `success` is null where nothing ran, or nobody knows what came of it. */
async function extendResults(db: Kysely<unknown>): Promise<void> {
  await sql`
    ALTER TABLE results
      ADD COLUMN seq bigint GENERATED ALWAYS AS IDENTITY,
      ADD COLUMN status text,
      ADD COLUMN outcome text,
      ADD COLUMN first_attempt int NOT NULL DEFAULT 1,
      ADD COLUMN worker_id text,
      ADD COLUMN started_at timestamptz,
      ADD COLUMN finished_at timestamptz,
      -- Which transaction wrote it: what is older than every open one is complete, and goes to the log in that order.
      ADD COLUMN xid xid8,
      ALTER COLUMN success DROP NOT NULL,
      ALTER COLUMN declared_side_effects DROP NOT NULL,
      ALTER COLUMN artifacts DROP NOT NULL,
      ALTER COLUMN duration_ms DROP NOT NULL,
      ALTER COLUMN truncated DROP NOT NULL,
      ALTER COLUMN input_hash DROP NOT NULL,
      ALTER COLUMN output_hash DROP NOT NULL`.execute(db);
  // Ends that a webhook is to be told of, written with the end.
  await sql`CREATE TABLE ends_to_tell (invocation_id text PRIMARY KEY)`.execute(db);
}

async function moveRows(db: Kysely<unknown>): Promise<void> {
  await sql`
    INSERT INTO work (invocation_id, seq, tenant, runner, priority, status, attempt, first_attempt, run_at, available_at,
      expires_at, quota_scopes)
    SELECT invocation_id, seq, tenant, runner, priority, status, attempt, first_attempt,
      CASE WHEN status <> 'queued' THEN run_at END, CASE WHEN status = 'queued' THEN available_at END, expires_at, quota_scopes
    FROM invocations WHERE status IN ('queued', 'deferred', 'held')`.execute(db);
  // One receipt for each call: their workers are from before, and are given up as lost.
  await sql`
    INSERT INTO claims (claim_id, runner, worker_id, owned_at, ids, attempts, first_attempts, canceled, under_quota)
    SELECT 'clm_' || substr(invocation_id, 5), runner, worker_id, started_at, ARRAY[invocation_id], ARRAY[attempt],
      ARRAY[first_attempt], CASE WHEN cancel_requested_at IS NULL THEN '{}' ELSE ARRAY[invocation_id] END,
      quota_scopes IS NOT NULL
    FROM invocations WHERE status = 'running'`.execute(db);
  const ended = sql`i.status NOT IN ('queued', 'deferred', 'held', 'running')`;
  await sql`
    UPDATE results r SET status = i.status, first_attempt = i.first_attempt, worker_id = i.worker_id,
      started_at = i.started_at, finished_at = i.finished_at
    FROM invocations i WHERE i.invocation_id = r.invocation_id AND ${ended}`.execute(db);
  await sql`
    INSERT INTO results (invocation_id, attempt, status, first_attempt, worker_id, started_at, finished_at, error)
    SELECT i.invocation_id, i.attempt, i.status, i.first_attempt, i.worker_id, i.started_at, i.finished_at, a.error
    FROM invocations i LEFT JOIN attempts a ON a.invocation_id = i.invocation_id AND a.attempt = i.attempt
    WHERE ${ended} AND NOT EXISTS (SELECT FROM results r WHERE r.invocation_id = i.invocation_id)
    ORDER BY i.finished_at`.execute(db);
  await sql`
    UPDATE results r SET outcome = a.outcome FROM attempts a
    WHERE a.invocation_id = r.invocation_id AND a.attempt = r.attempt AND a.outcome <> r.status`.execute(db);
  await sql`
    INSERT INTO ends_to_tell SELECT invocation_id FROM invocations WHERE watched AND finished_at IS NOT NULL`.execute(
    db,
  );
  await sql`
    ALTER TABLE results
      ALTER COLUMN status SET NOT NULL,
      ALTER COLUMN finished_at SET NOT NULL,
      ALTER COLUMN finished_at SET DEFAULT now(),
      ALTER COLUMN xid SET DEFAULT pg_current_xact_id(),
      ADD CHECK (status IN ('denied', 'succeeded', 'failed', 'timed_out', 'canceled', 'ambiguous', 'rejected', 'expired')),
      ADD CHECK ((success IS NULL) = (output_hash IS NULL))`.execute(db);
  await sql`CREATE INDEX results_by_xid ON results (xid) WHERE xid IS NOT NULL`.execute(db);
}

async function narrowInvocations(db: Kysely<unknown>): Promise<void> {
  // `available_at` and `cancel_requested_at` stay for what ended before: the seals of those days cover them.
  await sql`
    ALTER TABLE invocations DROP COLUMN status, DROP COLUMN attempt, DROP COLUMN worker_id, DROP COLUMN started_at,
      DROP COLUMN finished_at, ADD COLUMN admitted text`.execute(db);
  await sql`UPDATE invocations SET watched = true WHERE watched = false`.execute(db);
  await sql`DROP TABLE outbox`.execute(db);
}

/** How every invocation stands, for whoever reads; the moves themselves go to the tables. */
async function createView(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE VIEW invocation_states AS
    SELECT i.seq, i.invocation_id, i.tenant, i.actor, i.roles, i.run_id, i.tool_id, i.runner, i.inputs, i.input_hash,
      i.descriptor_hash, i.policy_hash, i.decision, i.mode, i.session_id, i.idempotency_key, i.idempotent, i.spec_frozen,
      i.spec_hash, i.priority, i.timeout_ms, i.max_attempts, i.webhook_url, i.labels, i.retry_backoff_ms, i.watched,
      i.quota_scopes, i.created_at,
      coalesce(r.status, w.status, CASE WHEN c.owned_at IS NULL THEN 'queued' ELSE 'running' END) AS status,
      coalesce(r.attempt, w.attempt, c.attempt - (c.owned_at IS NULL)::int, 0) AS attempt,
      coalesce(r.first_attempt, w.first_attempt, c.first_attempt, i.first_attempt) AS first_attempt,
      coalesce(r.worker_id, c.worker_id) AS worker_id,
      coalesce(r.started_at, c.owned_at) AS started_at,
      i.run_at, coalesce(w.available_at, i.available_at) AS available_at, i.expires_at, i.cancel_requested_at, r.finished_at
    FROM invocations i
      LEFT JOIN results r ON r.invocation_id = i.invocation_id
      LEFT JOIN work w ON w.invocation_id = i.invocation_id
      LEFT JOIN LATERAL (
        SELECT worker_id, owned_at, attempts[place] AS attempt, first_attempts[place] AS first_attempt
        FROM claims, LATERAL (SELECT array_position(ids, i.invocation_id) AS place) AS at
        WHERE r.status IS NULL AND w.status IS NULL AND place IS NOT NULL LIMIT 1
      ) c ON true`.execute(db);
}

/** Every attempt that has ended: those that did not end their call, and the one that did, which stands with the result. */
async function createAttemptsView(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE VIEW ended_attempts AS
    SELECT invocation_id, attempt, worker_id, started_at, ended_at, outcome, error FROM attempts
    UNION ALL
    SELECT r.invocation_id, r.attempt, r.worker_id, r.started_at, r.finished_at, coalesce(r.outcome, r.status), r.error
    FROM results r
    WHERE r.worker_id IS NOT NULL AND r.started_at IS NOT NULL AND NOT EXISTS (
      SELECT FROM attempts a WHERE a.invocation_id = r.invocation_id AND a.attempt = r.attempt)`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`
    ALTER TABLE invocations DROP COLUMN admitted, ADD COLUMN status text, ADD COLUMN attempt int NOT NULL DEFAULT 0, ADD COLUMN worker_id text,
      ADD COLUMN started_at timestamptz, ADD COLUMN finished_at timestamptz`.execute(db);
  await sql`
    UPDATE invocations i SET status = s.status, attempt = s.attempt, worker_id = s.worker_id, started_at = s.started_at,
      finished_at = s.finished_at, first_attempt = s.first_attempt, run_at = s.run_at, available_at = s.available_at,
      expires_at = s.expires_at, watched = CASE WHEN i.watched THEN s.finished_at IS NULL OR EXISTS (
        SELECT FROM ends_to_tell t WHERE t.invocation_id = i.invocation_id) END
    FROM invocation_states s WHERE s.invocation_id = i.invocation_id`.execute(db);
  // What is on its way through the queue waits again; what was asked to be canceled is marked.
  await sql`
    UPDATE invocations i SET cancel_requested_at = now() FROM claims c WHERE i.invocation_id = ANY (c.canceled)`.execute(
    db,
  );
  await sql`DROP VIEW ended_attempts`.execute(db);
  await sql`DROP VIEW invocation_states`.execute(db);
  await sql`
    INSERT INTO attempts (invocation_id, attempt, worker_id, started_at, ended_at, outcome, error)
    SELECT invocation_id, attempt, worker_id, started_at, finished_at, coalesce(outcome, status), error FROM results
    WHERE worker_id IS NOT NULL AND started_at IS NOT NULL ON CONFLICT DO NOTHING`.execute(db);
  await sql`DELETE FROM results WHERE success IS NULL`.execute(db);
  await sql`DROP INDEX results_by_xid`.execute(db);
  await sql`
    ALTER TABLE results DROP COLUMN seq, DROP COLUMN status, DROP COLUMN outcome, DROP COLUMN first_attempt,
      DROP COLUMN worker_id, DROP COLUMN started_at, DROP COLUMN finished_at, DROP COLUMN xid,
      ALTER COLUMN success SET NOT NULL, ALTER COLUMN declared_side_effects SET NOT NULL, ALTER COLUMN artifacts SET NOT NULL,
      ALTER COLUMN duration_ms SET NOT NULL, ALTER COLUMN truncated SET NOT NULL, ALTER COLUMN input_hash SET NOT NULL,
      ALTER COLUMN output_hash SET NOT NULL`.execute(db);
  for (const table of ['ends_to_tell', 'claims', 'work']) await sql`DROP TABLE ${sql.table(table)}`.execute(db);
  await sql`
    ALTER TABLE invocations ALTER COLUMN status SET NOT NULL,
      ADD CHECK (status IN ('denied', 'held', 'deferred', 'queued', 'running', 'succeeded', 'failed', 'timed_out', 'canceled',
        'ambiguous', 'rejected', 'expired')),
      ADD CHECK (status <> 'running' OR worker_id IS NOT NULL)`.execute(db);
  await sql`CREATE INDEX invocations_ready ON invocations (runner, tenant, priority, seq)
    WHERE status = 'queued' AND available_at IS NULL`.execute(db);
  await sql`CREATE INDEX invocations_backing_off ON invocations (runner, available_at)
    WHERE status = 'queued' AND available_at IS NOT NULL`.execute(db);
  await sql`CREATE INDEX invocations_running ON invocations (worker_id) WHERE status = 'running'`.execute(db);
  await sql`CREATE INDEX invocations_deferred ON invocations (run_at) WHERE status = 'deferred'`.execute(db);
  await sql`CREATE INDEX invocations_expiring ON invocations (expires_at)
    WHERE expires_at IS NOT NULL AND status IN ('held', 'deferred', 'queued')`.execute(db);
  await sql`CREATE INDEX invocations_to_tell ON invocations (finished_at) WHERE watched AND finished_at IS NOT NULL`.execute(
    db,
  );
  await sql`CREATE INDEX invocations_under_quota ON invocations (quota_scopes)
    WHERE quota_scopes IS NOT NULL AND status IN ('queued', 'running')`.execute(db);
  await sql`CREATE INDEX invocations_awaiting_quota ON invocations (quota_scopes, tenant, priority, seq)
    WHERE quota_scopes IS NOT NULL AND status = 'deferred' AND run_at IS NULL`.execute(db);
  await sql`
    CREATE TABLE outbox (
      outbox_id text PRIMARY KEY,
      deliveries json NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now()
    )`.execute(db);
  await sql`CREATE INDEX outbox_oldest ON outbox (created_at)`.execute(db);
}
