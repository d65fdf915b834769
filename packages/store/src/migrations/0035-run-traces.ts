import { type Kysely, sql } from 'kysely';

/** The span that submitted a plan, so that the calls of its steps are part of the same trace. Null where traces are not sent. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE plan_runs ADD COLUMN traceparent text`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE plan_runs DROP COLUMN traceparent`.execute(db);
}
