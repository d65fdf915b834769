import { type Kysely, sql } from 'kysely';

/** The result of an attempt names the files of that attempt alone. Null in rows of the version before, and in replays. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE artifact_names ADD COLUMN attempt int`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE artifact_names DROP COLUMN attempt`.execute(db);
}
