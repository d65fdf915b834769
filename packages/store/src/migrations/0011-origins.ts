import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // Whether a run brought its policy with it, and is decided by that one whatever is in force.
  await sql`ALTER TABLE plan_runs ADD COLUMN own_policy boolean NOT NULL DEFAULT false`.execute(db);
  await sql`
    UPDATE plan_runs r SET own_policy = true WHERE EXISTS (
      SELECT FROM policies p WHERE p.name = 'run:' || r.policy_hash)`.execute(db);
  // A grant goes with the key that gave it.
  await sql`ALTER TABLE grants ADD COLUMN key_id text`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE grants DROP COLUMN key_id`.execute(db);
  await sql`ALTER TABLE plan_runs DROP COLUMN own_policy`.execute(db);
}
