import { type Kysely, sql } from 'kysely';

/** OpenAPI documents whose operations are tools, as they were sent. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE openapi_documents (
      name text PRIMARY KEY,
      document json NOT NULL,
      document_hash text NOT NULL,
      options json NOT NULL,
      installed_by text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now()
    )`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`DROP TABLE openapi_documents`.execute(db);
}
