import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // The engine knows by heart what is ready. For others to see that something is left to be started, one bit is enough.
  await sql`ALTER TABLE plan_runs ADD COLUMN waiting boolean NOT NULL DEFAULT false`.execute(db);
  await sql`UPDATE plan_runs SET waiting = true WHERE active`.execute(db);
  await sql`DROP INDEX steps_ready`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE INDEX steps_ready ON steps (run_id, step, element) WHERE status = 'pending' AND unmet = 0`.execute(
    db,
  );
  await sql`ALTER TABLE plan_runs DROP COLUMN waiting`.execute(db);
}
