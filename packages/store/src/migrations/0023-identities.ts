import { type Kysely, sql } from 'kysely';

/** Who people are at the identity provider, and the text of policies as somebody wrote it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // A name belongs to whom it was given first: neither can somebody else take it over, nor can who has one vote as another.
  await sql`
    CREATE TABLE identities (
      tenant text NOT NULL,
      actor text NOT NULL,
      iss text NOT NULL,
      sub text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (tenant, actor),
      UNIQUE (tenant, iss, sub)
    )`.execute(db);
  await sql`ALTER TABLE hold_entries ADD COLUMN iss text, ADD COLUMN sub text,
    ADD CHECK ((iss IS NULL) = (sub IS NULL))`.execute(db);
  // Null where it was sent as JSON.
  await sql`ALTER TABLE policies ADD COLUMN text text`.execute(db);
  // What was decided of a tool before.
  await sql`CREATE INDEX holds_of_tool ON holds (tenant, tool_id, seq)`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`DROP INDEX holds_of_tool`.execute(db);
  await sql`ALTER TABLE policies DROP COLUMN text`.execute(db);
  await sql`ALTER TABLE hold_entries DROP COLUMN iss, DROP COLUMN sub`.execute(db);
  await sql`DROP TABLE identities`.execute(db);
}
