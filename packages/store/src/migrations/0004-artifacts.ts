import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // The content, once, by its hash. Small ones are here; `place` says where the others are.
  await sql`
    CREATE TABLE artifacts (
      sha256 text PRIMARY KEY CHECK (sha256 ~ '^[0-9a-f]{64}$'),
      size bigint NOT NULL,
      place text NOT NULL CHECK (place IN ('postgres', 'disk', 's3')),
      content bytea,
      used_at timestamptz NOT NULL DEFAULT now(),
      CHECK ((place = 'postgres') = (content IS NOT NULL))
    )`.execute(db);
  // Most of it is compressed already, and is read and written whole.
  await sql`ALTER TABLE artifacts ALTER COLUMN content SET STORAGE EXTERNAL`.execute(db);
  // What is no longer used is looked for among the oldest.
  await sql`CREATE INDEX artifacts_by_use ON artifacts (used_at)`.execute(db);

  // Who may read it, and under which name.
  await sql`
    CREATE TABLE artifact_names (
      invocation_id text NOT NULL,
      sha256 text NOT NULL,
      name text NOT NULL,
      media_type text NOT NULL,
      tenant text NOT NULL,
      PRIMARY KEY (invocation_id, sha256, name)
    )`.execute(db);
  await sql`CREATE INDEX artifact_names_by_hash ON artifact_names (sha256, tenant)`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`DROP TABLE artifact_names, artifacts`.execute(db);
}
