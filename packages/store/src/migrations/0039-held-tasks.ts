import { type Kysely, sql } from 'kysely';

/** A call that waits for an answer may be a task that goes on at its server: workers look at it every look_ms, next at look_at. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE checkpoints ADD COLUMN look_ms int, ADD COLUMN look_at timestamptz`.execute(db);
  await sql`CREATE INDEX checkpoints_to_look_at ON checkpoints (look_at) WHERE look_at IS NOT NULL`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE checkpoints DROP COLUMN look_ms, DROP COLUMN look_at`.execute(db);
}
