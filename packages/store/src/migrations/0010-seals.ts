import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // Runs that have ended and are not sealed are looked for often; there are few of them.
  await sql`
    ALTER TABLE runs
      ADD COLUMN mode text NOT NULL DEFAULT 'execution' CHECK (mode IN ('execution', 'replay')),
      ADD COLUMN replay_of text,
      ADD COLUMN sealed boolean NOT NULL DEFAULT false`.execute(db);
  await sql`CREATE INDEX runs_unsealed ON runs (seq) WHERE NOT sealed`.execute(db);

  // The run whose result a step has, where it was not called itself.
  await sql`ALTER TABLE steps ADD COLUMN reused_from text`.execute(db);

  // Every descriptor that was ever in force, by its hash: what is on record refers to it after the tool has changed.
  await sql`
    CREATE TABLE descriptors (
      descriptor_hash text PRIMARY KEY,
      descriptor json NOT NULL,
      seen_at timestamptz NOT NULL DEFAULT now()
    )`.execute(db);

  await sql`
    CREATE TABLE seals (
      run_id text NOT NULL,
      -- Counts up as a run is sealed again; what was voided stays.
      generation int NOT NULL,
      tenant text NOT NULL,
      root text NOT NULL,
      count int NOT NULL,
      first_id text,
      last_id text,
      plan_hash text,
      policy_hash text,
      sealed_at timestamptz NOT NULL,
      seal_hash text NOT NULL,
      signature text,
      key_id text,
      public_key text,
      voided_at timestamptz,
      void_reason text,
      PRIMARY KEY (run_id, generation)
    )`.execute(db);

  // The chain of the seal in force; also what of it is there already while a run is being sealed.
  await sql`
    CREATE TABLE seal_links (
      run_id text NOT NULL,
      place int NOT NULL,
      kind text NOT NULL,
      id text NOT NULL,
      record_hash text NOT NULL,
      chain_hash text NOT NULL,
      digests json NOT NULL,
      PRIMARY KEY (run_id, place)
    )`.execute(db);

  // Lone invocations are sealed as they come by; how far it is, for each tenant, and what had not ended by then.
  await sql`CREATE TABLE seal_cursors (tenant text PRIMARY KEY, seq bigint NOT NULL)`.execute(db);
  await sql`CREATE TABLE seal_pending (invocation_id text PRIMARY KEY, due_at timestamptz NOT NULL DEFAULT now())`.execute(
    db,
  );
  await sql`CREATE INDEX seal_pending_due ON seal_pending (due_at)`.execute(db);

  // Runs of other installations, as they were handed over.
  await sql`
    CREATE TABLE bundles (
      bundle_id text PRIMARY KEY,
      tenant text NOT NULL,
      run_id text NOT NULL,
      kind text NOT NULL,
      count int NOT NULL,
      seal_hash text NOT NULL,
      imported_by text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now()
    )`.execute(db);
  await sql`
    CREATE TABLE bundle_lines (
      bundle_id text NOT NULL REFERENCES bundles ON DELETE CASCADE,
      number int NOT NULL,
      line text NOT NULL,
      PRIMARY KEY (bundle_id, number)
    )`.execute(db);

  // The chain of each tenant's events, made after they are committed: appending to the audit takes no lock for it.
  await sql`
    CREATE TABLE audit_links (
      seq bigint PRIMARY KEY,
      tenant text NOT NULL,
      place bigint NOT NULL,
      chain_hash text NOT NULL,
      UNIQUE (tenant, place)
    )`.execute(db);
  // Where looking for events without a link begins. It follows a minute or two behind, because events may become visible
  // out of order: next_low is where it goes once all transactions before next_xid have ended.
  await sql`
    CREATE TABLE audit_cursor (
      only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
      low bigint NOT NULL,
      next_low bigint NOT NULL,
      next_at timestamptz NOT NULL,
      next_xid xid8 NOT NULL
    )`.execute(db);
  await sql`INSERT INTO audit_cursor (low, next_low, next_at, next_xid) VALUES (0, 0, now(), pg_current_xact_id())`.execute(
    db,
  );
  // Submissions are audited on their way, so what is kept for finding them costs next to nothing: they are found by the
  // moment that they have in common with their invocations. And compressing them would cost more than writing them.
  await sql`CREATE INDEX audit_by_subject ON audit (tenant, subject, seq) WHERE event <> 'invocation.submit'`.execute(
    db,
  );
  await sql`CREATE INDEX audit_by_time ON audit USING brin (at)`.execute(db);
  await sql`ALTER TABLE audit SET (toast_tuple_target = 8160), ALTER COLUMN detail SET STORAGE EXTERNAL`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE audit RESET (toast_tuple_target), ALTER COLUMN detail SET STORAGE EXTENDED`.execute(db);
  await sql`DROP INDEX audit_by_time`.execute(db);
  await sql`DROP INDEX audit_by_subject`.execute(db);
  for (const table of [
    ...[
      'audit_cursor',
      'audit_links',
      'bundle_lines',
      'bundles',
      'seal_pending',
      'seal_cursors',
      'seal_links',
      'seals',
    ],
    'descriptors',
  ])
    await sql`DROP TABLE ${sql.table(table)}`.execute(db);
  await sql`ALTER TABLE steps DROP COLUMN reused_from`.execute(db);
  await sql`ALTER TABLE runs DROP COLUMN sealed, DROP COLUMN replay_of, DROP COLUMN mode`.execute(db);
}
