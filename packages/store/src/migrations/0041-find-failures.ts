import { type Kysely, sql } from 'kysely';

/** People look for the few calls that did not succeed, and for what went wrong in them. A success is in neither index. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE INDEX results_not_succeeded ON results (status, invocation_id) WHERE status <> 'succeeded'`.execute(
    db,
  );
  await sql`CREATE INDEX results_with_error ON results (invocation_id) WHERE error IS NOT NULL`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`DROP INDEX results_with_error`.execute(db);
  await sql`DROP INDEX results_not_succeeded`.execute(db);
}
