import { type Kysely, sql } from 'kysely';

/** Logins of the console: a cookie in a browser, and a row here that can be taken back. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE logins (
      login_id text PRIMARY KEY,
      secret_hash text NOT NULL UNIQUE,
      -- A login by key has what its key has at the moment, and ends with it.
      key_id text REFERENCES keys ON DELETE CASCADE,
      -- Of a login through the identity provider, which has no key: as its token said.
      tenant text,
      actor text,
      roles text[],
      iss text,
      sub text,
      created_at timestamptz NOT NULL DEFAULT now(),
      expires_at timestamptz NOT NULL,
      CHECK (key_id IS NOT NULL OR num_nulls(tenant, actor, roles, iss, sub) = 0)
    )`.execute(db);
  // Deleting a key looks for its logins.
  await sql`CREATE INDEX logins_by_key ON logins (key_id)`.execute(db);
  await sql`CREATE INDEX logins_expiring ON logins (expires_at)`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`DROP TABLE logins`.execute(db);
}
