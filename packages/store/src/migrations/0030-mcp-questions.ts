import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // A session of a client of the 2025 protocol at /mcp: any gateway can serve its next request, also after a restart.
  await sql`
    CREATE TABLE mcp_sessions (
      session_id text PRIMARY KEY,
      tenant text NOT NULL,
      actor text NOT NULL,
      protocol_version text NOT NULL,
      capabilities json NOT NULL,
      client_info json NOT NULL,
      log_level text,
      subscriptions text[] NOT NULL DEFAULT '{}',
      created_at timestamptz NOT NULL DEFAULT now(),
      seen_at timestamptz NOT NULL DEFAULT now()
    )`.execute(db);
  await sql`CREATE INDEX mcp_sessions_by_age ON mcp_sessions (seen_at)`.execute(db);

  // A hold can ask for an answer instead of an agreement. live: its attempt is running and waits for the answer.
  await sql`ALTER TABLE holds ADD COLUMN question json, ADD COLUMN answers json, ADD COLUMN approved_before json,
    ADD COLUMN live boolean NOT NULL DEFAULT false`.execute(db);
  await sql`CREATE INDEX holds_live ON holds (expires_at) WHERE live AND status = 'pending'`.execute(db);
  await sql`ALTER TABLE hold_entries DROP CONSTRAINT hold_entries_kind_check`.execute(db);
  await sql`ALTER TABLE hold_entries ADD CONSTRAINT hold_entries_kind_check
    CHECK (kind IN ('release', 'reject', 'comment', 'edit', 'return', 'withdraw', 'answer'))`.execute(db);

  // What an attempt leaves for the next one to go on from: the id of a task at another server, the state of a question.
  // repeatable: going on from it has no second effect, so that another attempt may without asking a person.
  await sql`
    CREATE TABLE checkpoints (
      invocation_id text PRIMARY KEY,
      state json NOT NULL,
      repeatable boolean NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now()
    )`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`DROP TABLE checkpoints`.execute(db);
  await sql`DELETE FROM hold_entries WHERE kind = 'answer'`.execute(db);
  await sql`ALTER TABLE hold_entries DROP CONSTRAINT hold_entries_kind_check`.execute(db);
  await sql`ALTER TABLE hold_entries ADD CONSTRAINT hold_entries_kind_check
    CHECK (kind IN ('release', 'reject', 'comment', 'edit', 'return', 'withdraw'))`.execute(db);
  await sql`DROP INDEX holds_live`.execute(db);
  await sql`ALTER TABLE holds DROP COLUMN question, DROP COLUMN answers, DROP COLUMN approved_before, DROP COLUMN live`.execute(
    db,
  );
  await sql`DROP TABLE mcp_sessions`.execute(db);
}
