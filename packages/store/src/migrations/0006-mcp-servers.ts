import { type Kysely, sql } from 'kysely';

/** `version` counts the changes of `config`, so that what was found out about an older one is not recorded for a newer. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE mcp_servers (
      name text PRIMARY KEY,
      config json NOT NULL,
      enabled boolean NOT NULL,
      version int NOT NULL DEFAULT 1,
      stale boolean NOT NULL DEFAULT true,
      tools int NOT NULL DEFAULT 0,
      failures int NOT NULL DEFAULT 0,
      error text,
      marked_at timestamptz,
      attempted_at timestamptz,
      discovered_at timestamptz,
      created_by text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now()
    )`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`DROP TABLE mcp_servers`.execute(db);
}
