import { type Kysely, sql } from 'kysely';

/** A session's last response is derived from results; what was cleared is everything up to this invocation. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE sessions ADD COLUMN cleared_seq bigint`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE sessions DROP COLUMN cleared_seq`.execute(db);
}
