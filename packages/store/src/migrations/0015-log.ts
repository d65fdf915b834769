import { type Kysely, sql } from 'kysely';

/**
 * One append-only Merkle log for each tenant, in place of a chain and a seal for each run. What was sealed before stays
 * sealed; what had ended and was not sealed goes into the log. See docs/internals/log.md.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createLog(db);
  await logRunEnds(db);
  await takeOver(db);
}

async function createLog(db: Kysely<unknown>): Promise<void> {
  // How far the log is. Whoever appends to it locks this row, for one transaction.
  await sql`
    CREATE TABLE log_cursor (
      only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
      -- Part of the name of every log, for as long as the database lives.
      installation uuid NOT NULL DEFAULT gen_random_uuid(),
      -- The cluster that counts the transactions. A dump that is restored comes to another one.
      system_identifier text,
      -- Everything up to here is in the log: by transaction, and within it by seq.
      xid xid8 NOT NULL DEFAULT '0',
      seq bigint NOT NULL DEFAULT 0,
      -- The highest seq that is in the log; and what of it came from a cluster before.
      top_seq bigint NOT NULL DEFAULT 0,
      after_seq bigint NOT NULL DEFAULT 0
    )`.execute(db);
  await sql`INSERT INTO log_cursor DEFAULT VALUES`.execute(db);

  // The right edge of each tree: all that appending needs.
  await sql`
    CREATE TABLE log_heads (
      tenant text PRIMARY KEY,
      size bigint NOT NULL,
      edge bytea NOT NULL
    ) WITH (fillfactor = 50)`.execute(db);

  // What was appended at once: one row, and no index entry for each leaf.
  await sql`
    CREATE TABLE log_batches (
      tenant text NOT NULL,
      -- The index of its first entry.
      first bigint NOT NULL,
      first_seq bigint NOT NULL,
      last_seq bigint NOT NULL,
      -- By entry: the seq of the result or the end of the run, the hash of the record, and digests of its fields.
      seqs bigint[] NOT NULL,
      hashes bytea NOT NULL,
      digests bytea[] NOT NULL,
      at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (tenant, first)
    )`.execute(db);
  // Hashes do not compress, and parts of them are read.
  await sql`ALTER TABLE log_batches ALTER COLUMN hashes SET STORAGE EXTERNAL`.execute(db);
  await sql`CREATE INDEX log_batches_by_seq ON log_batches (tenant, last_seq)`.execute(db);

  // The roots of 256, 65536, … entries: tiles above the lowest level.
  await sql`
    CREATE TABLE log_nodes (
      tenant text NOT NULL,
      level int NOT NULL,
      index bigint NOT NULL,
      hash bytea NOT NULL,
      PRIMARY KEY (tenant, level, index)
    )`.execute(db);
  await sql`
    CREATE TABLE log_checkpoints (
      tenant text NOT NULL,
      size bigint NOT NULL,
      note text NOT NULL,
      -- By which its signature is checked; null where it has none.
      key text,
      at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (tenant, size)
    )`.execute(db);
  // Ends that another end came after: a redrive, a resolution, or a run whose calls changed.
  await sql`
    CREATE TABLE log_superseded (
      seq bigint PRIMARY KEY,
      tenant text NOT NULL,
      run_id text NOT NULL,
      id text NOT NULL,
      reason text NOT NULL,
      at timestamptz NOT NULL DEFAULT now()
    )`.execute(db);
  await sql`CREATE INDEX log_superseded_by_run ON log_superseded (run_id)`.execute(db);
  await sql`
    CREATE FUNCTION refuse_log_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      RAISE EXCEPTION 'the log is append-only: % refused', TG_OP USING ERRCODE = 'insufficient_privilege';
    END $$`.execute(db);
  for (const table of ['log_batches', 'log_nodes', 'log_checkpoints']) {
    await sql`CREATE TRIGGER ${sql.ref(`${table}_append_only`)} BEFORE UPDATE OR DELETE ON ${sql.table(table)}
      FOR EACH ROW EXECUTE FUNCTION refuse_log_change()`.execute(db);
    await sql`CREATE TRIGGER ${sql.ref(`${table}_not_truncated`)} BEFORE TRUNCATE ON ${sql.table(table)}
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_log_change()`.execute(db);
  }
}

/**
 * The end of a run is an entry of the log, too. A trigger, because a run is ended by whichever statement ends its last call.
 * Its numbers come from the same sequence as those of results: a seq names one entry of the log.
 */
async function logRunEnds(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE runs ADD COLUMN end_seq bigint, ADD COLUMN end_xid xid8`.execute(db);
  await sql`CREATE INDEX runs_by_end ON runs (end_xid) WHERE end_xid IS NOT NULL`.execute(db);
  await sql`
    CREATE FUNCTION log_run_end() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP = 'UPDATE' AND OLD.end_seq IS NOT NULL THEN
        INSERT INTO log_superseded (seq, tenant, run_id, id, reason)
        VALUES (OLD.end_seq, OLD.tenant, OLD.run_id, OLD.run_id, 'its calls changed') ON CONFLICT DO NOTHING;
      END IF;
      IF NEW.finished_at IS NOT NULL AND NEW.live_steps = 0 THEN
        NEW.end_seq := nextval(pg_get_serial_sequence('results', 'seq'));
        NEW.end_xid := pg_current_xact_id();
      ELSE
        NEW.end_seq := NULL;
        NEW.end_xid := NULL;
      END IF;
      RETURN NEW;
    END $$`.execute(db);
  await sql`
    CREATE TRIGGER runs_log_insert BEFORE INSERT ON runs
    FOR EACH ROW WHEN (NEW.finished_at IS NOT NULL) EXECUTE FUNCTION log_run_end()`.execute(db);
  await sql`
    CREATE TRIGGER runs_log_end BEFORE UPDATE ON runs
    FOR EACH ROW WHEN (OLD.finished_at IS DISTINCT FROM NEW.finished_at OR OLD.replay_of IS DISTINCT FROM NEW.replay_of
      OR (NEW.finished_at IS NOT NULL AND OLD.live_steps <> NEW.live_steps))
    EXECUTE FUNCTION log_run_end()`.execute(db);
}

/** What has ended and has no seal in force goes into the log. Links of a seal that was not finished are dropped. */
async function takeOver(db: Kysely<unknown>): Promise<void> {
  await sql`
    UPDATE results r SET xid = pg_current_xact_id() FROM invocations i
    WHERE r.xid IS NULL AND i.invocation_id = r.invocation_id AND NOT EXISTS (
      SELECT FROM seals s WHERE s.run_id = coalesce(i.run_id, 'run_' || substr(i.invocation_id, 5)) AND s.voided_at IS NULL)`.execute(
    db,
  );
  await sql`
    UPDATE runs r SET end_seq = nextval(pg_get_serial_sequence('results', 'seq')), end_xid = pg_current_xact_id()
    WHERE finished_at IS NOT NULL AND live_steps = 0 AND NOT EXISTS (
      SELECT FROM seals s WHERE s.run_id = r.run_id AND s.voided_at IS NULL)`.execute(db);
  await sql`
    DELETE FROM seal_links l WHERE NOT EXISTS (
      SELECT FROM seals s WHERE s.run_id = l.run_id AND s.voided_at IS NULL)`.execute(db);
  await sql`UPDATE results r SET chain_hash = NULL WHERE xid IS NOT NULL AND chain_hash IS NOT NULL`.execute(db);
  for (const table of ['seal_pending', 'seal_cursors']) await sql`DROP TABLE ${sql.table(table)}`.execute(db);
  await sql`ALTER TABLE runs DROP COLUMN sealed`.execute(db);
}

/** What went into the log since is sealed again by whoever runs the version before. */
export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE runs ADD COLUMN sealed boolean NOT NULL DEFAULT false`.execute(db);
  await sql`
    UPDATE runs r SET sealed = true WHERE EXISTS (
      SELECT FROM seals s WHERE s.run_id = r.run_id AND s.voided_at IS NULL)`.execute(db);
  await sql`CREATE INDEX runs_unsealed ON runs (seq) WHERE NOT sealed`.execute(db);
  await sql`CREATE TABLE seal_cursors (tenant text PRIMARY KEY, seq bigint NOT NULL)`.execute(db);
  await sql`CREATE TABLE seal_pending (invocation_id text PRIMARY KEY, due_at timestamptz NOT NULL DEFAULT now())`.execute(
    db,
  );
  await sql`CREATE INDEX seal_pending_due ON seal_pending (due_at)`.execute(db);
  await sql`DROP TRIGGER runs_log_end ON runs`.execute(db);
  await sql`DROP TRIGGER runs_log_insert ON runs`.execute(db);
  await sql`DROP FUNCTION log_run_end()`.execute(db);
  await sql`ALTER TABLE runs DROP COLUMN end_seq, DROP COLUMN end_xid`.execute(db);
  for (const table of ['log_superseded', 'log_checkpoints', 'log_nodes', 'log_batches', 'log_heads', 'log_cursor'])
    await sql`DROP TABLE ${sql.table(table)}`.execute(db);
  await sql`DROP FUNCTION refuse_log_change()`.execute(db);
}
