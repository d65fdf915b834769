import { type Kysely, sql } from 'kysely';

/** Rollups of what ended, by the minute and by the hour, added up by the coordinator after the fact. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE stats (
      tenant text NOT NULL,
      grain text NOT NULL CHECK (grain IN ('minute', 'hour')),
      t timestamptz NOT NULL,
      runner text NOT NULL,
      tool_id text NOT NULL,
      status text NOT NULL,
      -- 'ended' counts calls; 'wait' and 'run' count how many took about as long as the bucket says.
      measure text NOT NULL CHECK (measure IN ('ended', 'wait', 'run')),
      bucket smallint NOT NULL,
      count bigint NOT NULL,
      PRIMARY KEY (tenant, grain, t, runner, tool_id, status, measure, bucket)
    )`.execute(db);
  await sql`CREATE INDEX stats_by_age ON stats (grain, t)`.execute(db);
  // How far results are counted: moved in the transaction that adds them, so that none is counted twice or left out.
  await sql`
    CREATE TABLE stats_cursor (
      only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
      xid xid8 NOT NULL,
      seq bigint NOT NULL,
      top_seq bigint NOT NULL,
      after_seq bigint NOT NULL DEFAULT 0
    )`.execute(db);
  // What ended before is not counted: an installation of any size starts at once.
  await sql`
    INSERT INTO stats_cursor (xid, seq, top_seq)
    SELECT pg_snapshot_xmin(pg_current_snapshot()), 0, coalesce(max(seq), 0) FROM results`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`DROP TABLE stats_cursor`.execute(db);
  await sql`DROP TABLE stats`.execute(db);
}
