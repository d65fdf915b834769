import { type Kysely, sql } from 'kysely';

/**
 * `json` rather than `jsonb` for what tools take and give: it keeps the text as sent, so hashes stay true, it accepts
 * \u0000 (jsonb refuses it), and it costs less to write. What is searched (labels) is jsonb.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE keys (
      key_id text PRIMARY KEY,
      key_hash text NOT NULL UNIQUE,
      tenant text NOT NULL,
      actor text NOT NULL,
      roles text[] NOT NULL CHECK (cardinality(roles) > 0),
      created_at timestamptz NOT NULL DEFAULT now()
    )`.execute(db);

  await sql`
    CREATE TABLE policies (
      name text NOT NULL,
      version int NOT NULL,
      policy_hash text NOT NULL,
      document json NOT NULL,
      created_by text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (name, version)
    )`.execute(db);
  // A worker finds the version that an invocation was admitted under by its hash.
  await sql`CREATE INDEX policies_by_hash ON policies (policy_hash)`.execute(db);

  await sql`
    CREATE TABLE runs (
      run_id text PRIMARY KEY,
      seq bigint GENERATED ALWAYS AS IDENTITY,
      tenant text NOT NULL,
      actor text NOT NULL,
      kind text NOT NULL,
      total_steps int NOT NULL,
      -- Counted by the statements that move the steps: a run of 10,000 is looked at often, and counting its rows anew each
      -- time took a fifth of what running them took.
      live_steps int NOT NULL,
      completed_steps int NOT NULL DEFAULT 0,
      denied_steps int NOT NULL DEFAULT 0,
      failed_steps int NOT NULL DEFAULT 0,
      canceled_steps int NOT NULL DEFAULT 0,
      created_at timestamptz NOT NULL DEFAULT now(),
      finished_at timestamptz
    ) WITH (fillfactor = 50)`.execute(db);
  await sql`CREATE INDEX runs_by_tenant ON runs (tenant, seq)`.execute(db);

  await sql`
    CREATE TABLE invocations (
      seq bigint GENERATED ALWAYS AS IDENTITY,
      invocation_id text PRIMARY KEY,
      tenant text NOT NULL,
      actor text NOT NULL,
      -- The roles its key had: policy decides by them again in the worker.
      roles text[] NOT NULL DEFAULT '{}',
      run_id text,
      tool_id text NOT NULL,
      runner text NOT NULL,
      inputs json NOT NULL,
      input_hash text NOT NULL,
      descriptor_hash text NOT NULL,
      policy_hash text NOT NULL,
      decision json NOT NULL,
      mode text NOT NULL,
      session_id text,
      idempotency_key text,
      idempotent boolean NOT NULL,
      spec_frozen boolean,
      spec_hash text,
      priority int NOT NULL,
      timeout_ms int NOT NULL,
      max_attempts int NOT NULL,
      first_attempt int NOT NULL DEFAULT 1,
      webhook_url text,
      labels jsonb NOT NULL,
      status text NOT NULL CHECK (status IN ('denied', 'held', 'deferred', 'queued', 'running', 'succeeded', 'failed',
        'timed_out', 'canceled', 'ambiguous', 'rejected', 'expired')),
      attempt int NOT NULL DEFAULT 0,
      -- Of the last attempt, as is started_at.
      worker_id text,
      started_at timestamptz,
      run_at timestamptz,
      available_at timestamptz,
      expires_at timestamptz,
      cancel_requested_at timestamptz,
      created_at timestamptz NOT NULL DEFAULT now(),
      finished_at timestamptz,
      CHECK (status <> 'running' OR worker_id IS NOT NULL)
    )`.execute(db);

  // Every index is paid for by every move of every invocation, so each one is partial where it can be.
  // Lists, newest first, within a tenant.
  await sql`CREATE INDEX invocations_by_tenant ON invocations (tenant, seq)`.execute(db);
  // The order of claims: from tenant to tenant, and within a tenant by priority.
  await sql`CREATE INDEX invocations_ready ON invocations (runner, tenant, priority, seq)
    WHERE status = 'queued' AND available_at IS NULL`.execute(db);
  // Retries that wait for their backoff. Kept out of invocations_ready, so claims never step over them.
  await sql`CREATE INDEX invocations_backing_off ON invocations (runner, available_at)
    WHERE status = 'queued' AND available_at IS NOT NULL`.execute(db);
  // What a lost worker leaves behind, and what a worker is asked to cancel.
  await sql`CREATE INDEX invocations_running ON invocations (worker_id) WHERE status = 'running'`.execute(db);
  await sql`CREATE INDEX invocations_deferred ON invocations (run_at) WHERE status = 'deferred'`.execute(db);
  await sql`CREATE INDEX invocations_expiring ON invocations (expires_at)
    WHERE expires_at IS NOT NULL AND status IN ('held', 'deferred', 'queued')`.execute(db);
  await sql`CREATE INDEX invocations_by_run ON invocations (run_id, seq) WHERE run_id IS NOT NULL`.execute(db);
  await sql`CREATE INDEX invocations_by_session ON invocations (tenant, session_id, seq)
    WHERE session_id IS NOT NULL`.execute(db);
  await sql`CREATE UNIQUE INDEX invocations_idempotency ON invocations (tenant, idempotency_key)
    WHERE idempotency_key IS NOT NULL`.execute(db);
  // Retention looks for the oldest; BRIN costs next to nothing to keep, and rows arrive in this order.
  await sql`CREATE INDEX invocations_by_age ON invocations USING brin (created_at)`.execute(db);

  // No foreign keys from here on: a check per row locks the invocation once more, and every writer of these tables
  // moves the invocation in the same statement anyway.
  // Attempts that have ended. The one under way is on the invocation itself: writing it twice cost a tenth of the throughput.
  await sql`
    CREATE TABLE attempts (
      invocation_id text NOT NULL,
      attempt int NOT NULL,
      worker_id text NOT NULL,
      started_at timestamptz NOT NULL,
      ended_at timestamptz NOT NULL DEFAULT now(),
      outcome text NOT NULL,
      error text,
      PRIMARY KEY (invocation_id, attempt)
    )`.execute(db);

  await sql`
    CREATE TABLE results (
      invocation_id text PRIMARY KEY,
      attempt int NOT NULL,
      success boolean NOT NULL,
      payload json,
      error text,
      code int,
      declared_side_effects json NOT NULL,
      artifacts json NOT NULL,
      facts json,
      duration_ms double precision NOT NULL,
      exit_code int,
      truncated boolean NOT NULL,
      input_hash text NOT NULL,
      output_hash text NOT NULL,
      chain_hash text
    )`.execute(db);

  await sql`
    CREATE TABLE logs (
      invocation_id text NOT NULL,
      attempt int NOT NULL,
      seq int NOT NULL,
      stream text NOT NULL,
      text text NOT NULL,
      at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (invocation_id, attempt, seq)
    )`.execute(db);

  // One row for all that was committed together: what is here has not surely reached the queue.
  await sql`
    CREATE TABLE outbox (
      outbox_id text PRIMARY KEY,
      deliveries json NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now()
    )`.execute(db);
  await sql`CREATE INDEX outbox_oldest ON outbox (created_at)`.execute(db);

  await sql`
    CREATE TABLE workers (
      worker_id text PRIMARY KEY,
      runners text[] NOT NULL,
      host text NOT NULL,
      pid int NOT NULL,
      concurrency int NOT NULL,
      started_at timestamptz NOT NULL DEFAULT now(),
      seen_at timestamptz NOT NULL DEFAULT now(),
      lease_until timestamptz NOT NULL,
      draining boolean NOT NULL DEFAULT false,
      stopped_at timestamptz
    ) WITH (fillfactor = 50)`.execute(db);

  await sql`
    CREATE TABLE queues (
      runner text PRIMARY KEY,
      paused boolean NOT NULL
    )`.execute(db);

  await sql`
    CREATE TABLE audit (
      seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      at timestamptz NOT NULL DEFAULT now(),
      tenant text NOT NULL,
      actor text NOT NULL,
      event text NOT NULL,
      subject text NOT NULL,
      detail json NOT NULL
    )`.execute(db);
  await sql`CREATE INDEX audit_by_tenant ON audit (tenant, seq)`.execute(db);
  await sql`
    CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      RAISE EXCEPTION 'the audit is append-only: % refused', TG_OP USING ERRCODE = 'insufficient_privilege';
    END $$`.execute(db);
  await sql`CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE ON audit
    FOR EACH ROW EXECUTE FUNCTION refuse_change()`.execute(db);
  await sql`CREATE TRIGGER audit_not_truncated BEFORE TRUNCATE ON audit
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  for (const table of [
    'audit',
    'queues',
    'workers',
    'outbox',
    'logs',
    'results',
    'attempts',
    'invocations',
    'runs',
    'policies',
    'keys',
  ])
    await sql`DROP TABLE ${sql.table(table)} CASCADE`.execute(db);
  await sql`DROP FUNCTION refuse_change()`.execute(db);
}
