import { type Kysely, sql } from 'kysely';

/** Tools in their users' own processes: keys that serve one pool, the versions of a pool's tools, and which one a worker has. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE keys ADD COLUMN pool text`.execute(db);
  await sql`ALTER TABLE workers ADD COLUMN version text`.execute(db);
  await sql`
    CREATE TABLE pool_versions (
      pool text NOT NULL,
      version text NOT NULL,
      descriptors json NOT NULL,
      put_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (pool, version)
    )`.execute(db);
  // Forgotten with its worker. What a worker was given, so that any gateway takes it out of what the call logs and returns.
  await sql`
    CREATE TABLE app_secret_uses (
      worker_id text NOT NULL,
      invocation_id text NOT NULL,
      name text NOT NULL,
      PRIMARY KEY (worker_id, invocation_id, name)
    )`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`DROP TABLE app_secret_uses`.execute(db);
  await sql`DROP TABLE pool_versions`.execute(db);
  await sql`ALTER TABLE workers DROP COLUMN version`.execute(db);
  await sql`ALTER TABLE keys DROP COLUMN pool`.execute(db);
}
