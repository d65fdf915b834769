import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE secrets (
      tenant text NOT NULL,
      name text NOT NULL,
      key_id text NOT NULL,
      sealed bytea NOT NULL,
      -- Who may use it; null: everybody of the tenant.
      tools text[],
      hosts text[],
      updated_by text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (tenant, name)
    )`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`DROP TABLE secrets`.execute(db);
}
