import { type Kysely, sql } from 'kysely';

/**
 * The span that submitted a call, as W3C Trace Context writes it, so that its attempts are part of the same trace. Null, and
 * thereby nothing on disk, where traces are not sent. A new column without a default: no table is rewritten, and what an older
 * version inserts has none.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE invocations ADD COLUMN traceparent text`.execute(db);
  // How many calls a worker runs at once, by runner type: {"exec": 16}. Null for workers of versions that did not tell.
  await sql`ALTER TABLE workers ADD COLUMN slots json`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE workers DROP COLUMN slots`.execute(db);
  await sql`ALTER TABLE invocations DROP COLUMN traceparent`.execute(db);
}
