import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // Whether its end is to be told: set when it is inserted, for a tenant whose endpoints ask for it or with a webhook_url,
  // and false once it was told. Everything else has null here and is in none of these indexes.
  await sql`ALTER TABLE invocations ADD COLUMN watched boolean, ADD COLUMN quota_scopes text[]`.execute(db);
  await sql`CREATE INDEX invocations_to_tell ON invocations (finished_at)
    WHERE watched AND finished_at IS NOT NULL`.execute(db);
  // What takes up a quota at the moment: slots are counted here, never in a counter that a crash could leave wrong. A GIN
  // index would find one scope alone, but it steps over every dead entry until the next vacuum; this one drops them.
  await sql`CREATE INDEX invocations_under_quota ON invocations (quota_scopes)
    WHERE quota_scopes IS NOT NULL AND status IN ('queued', 'running')`.execute(db);
  // The order of promotions: each set of scopes and each tenant is found without stepping over what another has waiting.
  await sql`CREATE INDEX invocations_awaiting_quota ON invocations (quota_scopes, tenant, priority, seq)
    WHERE quota_scopes IS NOT NULL AND status = 'deferred' AND run_at IS NULL`.execute(db);

  await sql`
    CREATE TABLE events (
      event_id text PRIMARY KEY,
      tenant text NOT NULL,
      type text NOT NULL,
      subject text NOT NULL,
      data json NOT NULL,
      -- Told here too, whatever the endpoints of the tenant ask for.
      url text,
      at timestamptz NOT NULL DEFAULT now(),
      -- Whether its deliveries have been written.
      fanned_out boolean NOT NULL DEFAULT false
    )`.execute(db);
  await sql`CREATE INDEX events_new ON events (at) WHERE NOT fanned_out`.execute(db);
  await sql`CREATE INDEX events_by_age ON events USING brin (at)`.execute(db);

  await sql`
    CREATE TABLE webhooks (
      webhook_id text PRIMARY KEY,
      seq bigint GENERATED ALWAYS AS IDENTITY,
      tenant text NOT NULL,
      kind text NOT NULL CHECK (kind IN ('standard', 'slack')),
      url text NOT NULL,
      events text[] NOT NULL CHECK (cardinality(events) > 0),
      -- The secret, sealed with the key of that id.
      key_id text NOT NULL,
      sealed bytea NOT NULL,
      enabled boolean NOT NULL DEFAULT true,
      disabled_reason text,
      created_by text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now()
    )`.execute(db);
  await sql`CREATE INDEX webhooks_by_tenant ON webhooks (tenant, seq)`.execute(db);

  // What a webhook_url of an invocation or a run is signed with.
  await sql`
    CREATE TABLE webhook_secrets (
      tenant text PRIMARY KEY,
      key_id text NOT NULL,
      sealed bytea NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now()
    )`.execute(db);

  await sql`
    CREATE TABLE webhook_deliveries (
      delivery_id text PRIMARY KEY,
      seq bigint GENERATED ALWAYS AS IDENTITY,
      tenant text NOT NULL,
      event_id text NOT NULL,
      webhook_id text REFERENCES webhooks ON DELETE CASCADE,
      -- The id of the endpoint, or the address where there is none.
      target text NOT NULL,
      state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'failed')),
      -- Also the fencing token of whoever sends it.
      attempts int NOT NULL DEFAULT 0,
      -- When it is due; while it is being sent, when it is taken for lost.
      next_at timestamptz NOT NULL DEFAULT now(),
      retry_since timestamptz NOT NULL DEFAULT now(),
      response_status int,
      error text,
      duration_ms double precision,
      created_at timestamptz NOT NULL DEFAULT now(),
      delivered_at timestamptz,
      -- However often an event is looked at, it is told once to each.
      UNIQUE (event_id, target)
    ) WITH (fillfactor = 70)`.execute(db);
  await sql`CREATE INDEX webhook_deliveries_due ON webhook_deliveries (target, next_at)
    WHERE state = 'pending'`.execute(db);
  await sql`CREATE INDEX webhook_deliveries_of ON webhook_deliveries (webhook_id, seq)`.execute(db);
  await sql`CREATE INDEX webhook_deliveries_by_tenant ON webhook_deliveries (tenant, seq)`.execute(db);
  await sql`CREATE INDEX webhook_deliveries_by_age ON webhook_deliveries USING brin (created_at)`.execute(db);

  await sql`
    CREATE TABLE quotas (
      scope text PRIMARY KEY,
      limits json NOT NULL,
      on_exceed text NOT NULL CHECK (on_exceed IN ('defer', 'deny')),
      updated_by text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now()
    )`.execute(db);

  // For how long a tenant keeps what ended; without a row, as long as the installation does.
  await sql`
    CREATE TABLE retentions (
      tenant text PRIMARY KEY,
      settings json NOT NULL,
      updated_by text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now()
    )`.execute(db);
  // Since then the payload is gone, and only its hash is left.
  await sql`ALTER TABLE results ADD COLUMN removed_at timestamptz,
    ADD CONSTRAINT results_removed CHECK (removed_at IS NULL OR payload IS NULL)`.execute(db);

  // That a call took a slot, and when: what is counted by the minute and by the day.
  await sql`
    CREATE TABLE quota_uses (
      scope text NOT NULL,
      taken_at timestamptz NOT NULL DEFAULT now(),
      invocation_id text NOT NULL,
      -- Expected, and counted until the real cost is known.
      cost_units double precision NOT NULL DEFAULT 0,
      PRIMARY KEY (scope, taken_at, invocation_id)
    )`.execute(db);
  // One that was counted when it was taken in is not counted again when it is promoted.
  await sql`CREATE INDEX quota_uses_of ON quota_uses (invocation_id)`.execute(db);

  await sql`
    CREATE TABLE quota_warnings (
      scope text NOT NULL,
      limit_name text NOT NULL,
      window_start timestamptz NOT NULL,
      PRIMARY KEY (scope, limit_name, window_start)
    )`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  for (const table of [
    'retentions',
    'quota_warnings',
    'quota_uses',
    'quotas',
    'webhook_deliveries',
    'webhook_secrets',
    'webhooks',
    'events',
  ])
    await sql`DROP TABLE ${sql.table(table)}`.execute(db);
  await sql`ALTER TABLE invocations DROP COLUMN watched, DROP COLUMN quota_scopes`.execute(db);
  await sql`ALTER TABLE results DROP COLUMN removed_at`.execute(db);
}
