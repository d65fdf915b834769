import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // Prompts, resources and what else a server said of itself when it was looked at last.
  await sql`ALTER TABLE mcp_servers ADD COLUMN listing json`.execute(db);

  // A tool as it was when somebody took it. found: as its server describes it now, where that is something else.
  await sql`
    CREATE TABLE mcp_pins (
      server text NOT NULL,
      tool_id text NOT NULL,
      descriptor json NOT NULL,
      descriptor_hash text NOT NULL,
      found json,
      found_hash text,
      found_at timestamptz,
      accepted_by text NOT NULL,
      accepted_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (server, tool_id)
    )`.execute(db);

  // Tokens of OAuth and what was registered to get them, sealed like secrets. owner: a tenant, or somebody of a tenant.
  await sql`
    CREATE TABLE mcp_credentials (
      server text NOT NULL,
      tenant text NOT NULL,
      owner text NOT NULL,
      key_id text NOT NULL,
      sealed bytea NOT NULL,
      updated_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (server, tenant, owner)
    )`.execute(db);

  // A login that somebody has begun in a browser.
  await sql`
    CREATE TABLE mcp_logins (
      state text PRIMARY KEY,
      server text NOT NULL,
      tenant text NOT NULL,
      owner text NOT NULL,
      actor text NOT NULL,
      key_id text NOT NULL,
      sealed bytea NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now()
    )`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  for (const table of ['mcp_logins', 'mcp_credentials', 'mcp_pins'])
    await sql`DROP TABLE ${sql.table(table)}`.execute(db);
  await sql`ALTER TABLE mcp_servers DROP COLUMN listing`.execute(db);
}
