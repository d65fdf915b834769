import { type Kysely, sql } from 'kysely';

/**
 * Lines of one day lie in a table of their own, which retention drops whole; see docs/internals/decisions/0009-log-days.md. The
 * coordinator makes the days ahead. Writers say nothing of days, so older versions go on as they are.
 *
 * What was there becomes the partition of lines that are kept by the call. No row is rewritten and no index built: Postgres reads the
 * table once, to see that all of it is of that partition. Each partition has the primary key that the table had; one over all of them
 * would have to have the day in it.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE logs RENAME TO logs_kept`.execute(db);
  await sql`ALTER INDEX logs_pkey RENAME TO logs_kept_pkey`.execute(db);
  await sql`ALTER TABLE logs_kept ADD COLUMN day date NOT NULL DEFAULT '-infinity'`.execute(db);
  await sql`
    CREATE TABLE logs (
      invocation_id text NOT NULL,
      attempt int NOT NULL,
      seq int NOT NULL,
      stream text NOT NULL,
      text text NOT NULL,
      at timestamptz NOT NULL DEFAULT now(),
      -- The UTC day on which it was written; minus infinity for lines that outlive their day.
      day date NOT NULL DEFAULT (now() AT TIME ZONE 'UTC')::date
    ) PARTITION BY RANGE (day)`.execute(db);
  await sql`ALTER TABLE logs ATTACH PARTITION logs_kept FOR VALUES FROM (MINVALUE) TO ('0001-01-01')`.execute(db);
  // Lines of days that nobody has made a table for. Small, or else making the next day would take long: it is read for that.
  await sql`CREATE TABLE logs_unplanned PARTITION OF logs DEFAULT`.execute(db);
  await sql`ALTER TABLE logs_unplanned ADD PRIMARY KEY (invocation_id, attempt, seq)`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE logs DETACH PARTITION logs_kept`.execute(db);
  await sql`
    INSERT INTO logs_kept (invocation_id, attempt, seq, stream, text, at)
    SELECT invocation_id, attempt, seq, stream, text, at FROM logs ON CONFLICT DO NOTHING`.execute(db);
  await sql`DROP TABLE logs`.execute(db);
  await sql`ALTER TABLE logs_kept DROP COLUMN day`.execute(db);
  await sql`ALTER TABLE logs_kept RENAME TO logs`.execute(db);
  await sql`ALTER INDEX logs_kept_pkey RENAME TO logs_pkey`.execute(db);
}
