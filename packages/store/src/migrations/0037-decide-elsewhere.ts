import { type Kysely, sql } from 'kysely';

/** People are told where they are, and decide there: Slack with buttons, Teams, and mail with a link that works once. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE webhooks DROP CONSTRAINT webhooks_kind_check,
    ADD CONSTRAINT webhooks_kind_check CHECK (kind IN ('standard', 'slack', 'teams', 'email'))`.execute(db);
  // Whom the users of Slack decide as, by their ids: {"U024BE7LH": "ann"}. Null where nobody decides there.
  await sql`ALTER TABLE webhooks ADD COLUMN users json`.execute(db);
  // Signed requests and links that were used, until they expire.
  await sql`CREATE TABLE used_tokens (token_hash bytea PRIMARY KEY, expires_at timestamptz NOT NULL)`.execute(db);
  await sql`CREATE INDEX used_tokens_by_age ON used_tokens (expires_at)`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`DROP TABLE used_tokens`.execute(db);
  await sql`DELETE FROM webhooks WHERE kind IN ('teams', 'email')`.execute(db);
  await sql`ALTER TABLE webhooks DROP COLUMN users, DROP CONSTRAINT webhooks_kind_check,
    ADD CONSTRAINT webhooks_kind_check CHECK (kind IN ('standard', 'slack'))`.execute(db);
}
