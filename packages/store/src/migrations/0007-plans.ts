import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // A plan says itself how it stands: between two steps nothing of it is live, and yet it is not over. The status of a
  // bulk is told by its counts.
  await sql`
    ALTER TABLE runs
      ADD COLUMN status text CHECK (status IN ('pending', 'running', 'paused', 'completed', 'failed', 'canceled')),
      ADD COLUMN name text,
      ADD COLUMN plan_hash text,
      ADD COLUMN policy_hash text,
      ADD COLUMN reason text,
      ADD COLUMN skipped_steps int NOT NULL DEFAULT 0,
      ADD CHECK ((kind = 'plan') = (status IS NOT NULL))`.execute(db);

  // Whatever fails is tried again, after so long: what the plan of a step asks for.
  await sql`ALTER TABLE invocations ADD COLUMN retry_backoff_ms int`.execute(db);

  // Apart from runs: whoever advances a plan locks this row, and settlements, which count on the row of the run, never
  // wait for it.
  await sql`
    CREATE TABLE plan_runs (
      run_id text PRIMARY KEY,
      tenant text NOT NULL,
      actor text NOT NULL,
      roles text[] NOT NULL,
      plan json NOT NULL,
      plan_hash text NOT NULL,
      policy_hash text NOT NULL,
      inputs json NOT NULL,
      max_parallel int,
      webhook_url text,
      session_id text,
      labels json NOT NULL DEFAULT '{}',
      active boolean NOT NULL DEFAULT true,
      paused boolean NOT NULL DEFAULT false,
      -- How it is to end once nothing of it is live any more.
      stopping text CHECK (stopping IN ('failed', 'canceled')),
      -- What was pending then is pending no more.
      dropped boolean NOT NULL DEFAULT false,
      -- Steps that were started and have not ended, as far as was looked.
      live int NOT NULL DEFAULT 0,
      -- Steps and elements that have not ended.
      unended int NOT NULL,
      -- What has been counted as completed, denied, failed or canceled: fewer than the run counts means a signal was lost.
      ended int NOT NULL DEFAULT 0,
      -- Of the last change of a step.
      seq int NOT NULL DEFAULT 0,
      -- How often each tool was called: policy may limit it.
      calls json NOT NULL DEFAULT '{}',
      created_at timestamptz NOT NULL DEFAULT now()
    ) WITH (fillfactor = 50)`.execute(db);
  await sql`CREATE INDEX plan_runs_active ON plan_runs (run_id) WHERE active`.execute(db);

  // One row for each step, and one for each element of a step that is fanned out (element >= 0).
  await sql`
    CREATE TABLE steps (
      run_id text NOT NULL,
      step int NOT NULL,
      element int NOT NULL DEFAULT -1,
      step_id text NOT NULL,
      name text,
      tool_id text NOT NULL,
      -- 'started': its invocation says more.
      status text NOT NULL CHECK (status IN ('pending', 'started', 'skipped', 'denied', 'succeeded', 'failed', 'timed_out',
        'canceled', 'ambiguous', 'rejected', 'expired')),
      -- Steps that it needs and that have not ended. At 0 it is ready.
      unmet int NOT NULL,
      -- Of its last change within the run: where a stream of events goes on.
      seq int NOT NULL DEFAULT 0,
      item json,
      has_invocation boolean NOT NULL DEFAULT false,
      reason text,
      -- Of a step that is fanned out.
      elements int,
      unended int,
      unsuccessful int,
      PRIMARY KEY (run_id, step, element)
    ) WITH (fillfactor = 70)`.execute(db);
  await sql`CREATE INDEX steps_ready ON steps (run_id, step, element) WHERE status = 'pending' AND unmet = 0`.execute(
    db,
  );
  await sql`CREATE INDEX steps_changed ON steps (run_id, seq) WHERE seq > 0`.execute(db);

  await sql`
    CREATE TABLE schedules (
      schedule_id text PRIMARY KEY,
      seq bigint GENERATED ALWAYS AS IDENTITY,
      tenant text NOT NULL,
      actor text NOT NULL,
      -- It may do what this key may. Without one it rests, until somebody resumes it as theirs.
      key_id text REFERENCES keys ON DELETE SET NULL,
      name text,
      cron text,
      time_zone text NOT NULL,
      every_ms bigint,
      -- A submission without its inputs, or a plan.
      submission json,
      tool_id text,
      plan json,
      plan_hash text,
      inputs json NOT NULL,
      overlap text NOT NULL CHECK (overlap IN ('skip', 'queue', 'cancel')),
      catch_up int NOT NULL,
      paused boolean NOT NULL,
      paused_reason text,
      next_at timestamptz,
      last_at timestamptz,
      last_run_id text,
      last_error text,
      created_at timestamptz NOT NULL DEFAULT now(),
      CHECK (key_id IS NOT NULL OR paused),
      CHECK ((cron IS NULL) <> (every_ms IS NULL)),
      CHECK ((tool_id IS NULL) <> (plan IS NULL))
    )`.execute(db);
  await sql`CREATE INDEX schedules_due ON schedules (next_at) WHERE NOT paused AND next_at IS NOT NULL`.execute(db);
  await sql`CREATE INDEX schedules_by_tenant ON schedules (tenant, seq)`.execute(db);
  await sql`CREATE INDEX schedules_by_key ON schedules (key_id)`.execute(db);

  // That a start is due is known once, and what became of it.
  await sql`
    CREATE TABLE schedule_fires (
      schedule_id text NOT NULL REFERENCES schedules ON DELETE CASCADE,
      fire_at timestamptz NOT NULL,
      outcome text NOT NULL CHECK (outcome IN ('started', 'skipped', 'queued', 'failed')),
      run_id text,
      detail text,
      PRIMARY KEY (schedule_id, fire_at)
    )`.execute(db);
  await sql`CREATE INDEX schedule_fires_queued ON schedule_fires (schedule_id, fire_at) WHERE outcome = 'queued'`.execute(
    db,
  );
}

export async function down(db: Kysely<unknown>): Promise<void> {
  for (const table of ['schedule_fires', 'schedules', 'steps', 'plan_runs'])
    await sql`DROP TABLE ${sql.table(table)}`.execute(db);
  await sql`DELETE FROM runs WHERE kind = 'plan'`.execute(db);
  await sql`ALTER TABLE runs DROP COLUMN status, DROP COLUMN name, DROP COLUMN plan_hash, DROP COLUMN policy_hash,
    DROP COLUMN reason, DROP COLUMN skipped_steps`.execute(db);
  await sql`ALTER TABLE invocations DROP COLUMN retry_backoff_ms`.execute(db);
}
