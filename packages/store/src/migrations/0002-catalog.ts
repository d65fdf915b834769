import { type Kysely, sql } from 'kysely';

/** Tools that were added while running, and what brought them. Native tools are code and have no rows. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE tools (
      tool_id text PRIMARY KEY,
      source text NOT NULL,
      origin text NOT NULL,
      descriptor json NOT NULL,
      descriptor_hash text NOT NULL,
      enabled boolean NOT NULL DEFAULT true,
      updated_at timestamptz NOT NULL DEFAULT now()
    )`.execute(db);
  // What an extension, server or document brought is replaced, switched off and removed together.
  await sql`CREATE INDEX tools_by_origin ON tools (source, origin)`.execute(db);

  await sql`
    CREATE TABLE extensions (
      extension_id text PRIMARY KEY,
      manifest json NOT NULL,
      commands json NOT NULL,
      usage text,
      tools_hash text,
      enabled boolean NOT NULL DEFAULT true,
      installed_by text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now()
    )`.execute(db);

  // By the hash of the whole set, so that a running worker never sees half of a new version.
  await sql`
    CREATE TABLE extension_files (
      tools_hash text NOT NULL,
      name text NOT NULL,
      sha256 text NOT NULL,
      content bytea NOT NULL,
      PRIMARY KEY (tools_hash, name)
    )`.execute(db);

  await sql`
    CREATE TABLE atip_documents (
      name text PRIMARY KEY,
      document json NOT NULL,
      document_hash text NOT NULL,
      installed_by text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now()
    )`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  for (const table of ['atip_documents', 'extension_files', 'extensions', 'tools'])
    await sql`DROP TABLE ${sql.table(table)} CASCADE`.execute(db);
}
