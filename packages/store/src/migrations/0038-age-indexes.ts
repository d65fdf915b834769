import { type Kysely, sql } from 'kysely';

/**
 * Only a bitmap scan can use a BRIN index, and all our connections turn bitmap scans off (`OPTIONS` in open-store.ts), so these
 * have only cost. Nothing looks for calls or deliveries by age: retention walks in the order of the log. It does look for events by age.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`DROP INDEX invocations_by_age`.execute(db);
  await sql`DROP INDEX webhook_deliveries_by_age`.execute(db);
  await sql`DROP INDEX events_by_age`.execute(db);
  await sql`CREATE INDEX events_by_age ON events (at) WHERE fanned_out`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`DROP INDEX events_by_age`.execute(db);
  await sql`CREATE INDEX events_by_age ON events USING brin (at)`.execute(db);
  await sql`CREATE INDEX webhook_deliveries_by_age ON webhook_deliveries USING brin (created_at)`.execute(db);
  await sql`CREATE INDEX invocations_by_age ON invocations USING brin (created_at)`.execute(db);
}
