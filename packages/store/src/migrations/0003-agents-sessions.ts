import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // `json`, which takes every text that JSON can hold; Postgres' own text has no NUL.
  await sql`
    CREATE TABLE agents (
      agent_id text PRIMARY KEY,
      seq bigint GENERATED ALWAYS AS IDENTITY,
      tenant text NOT NULL,
      definition json NOT NULL,
      version int NOT NULL DEFAULT 1,
      created_by text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now()
    )`.execute(db);
  await sql`CREATE INDEX agents_by_tenant ON agents (tenant, seq)`.execute(db);

  // What a session holds, counted; whoever changes its files locks this row first, so that its quota is never overrun.
  await sql`
    CREATE TABLE sessions (
      tenant text NOT NULL,
      session_id text NOT NULL,
      files int NOT NULL DEFAULT 0,
      size_bytes bigint NOT NULL DEFAULT 0 CHECK (size_bytes >= 0),
      created_at timestamptz NOT NULL DEFAULT now(),
      used_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (tenant, session_id)
    ) WITH (fillfactor = 80)`.execute(db);
  // Retention looks for those that were not used for longest.
  await sql`CREATE INDEX sessions_by_use ON sessions (used_at)`.execute(db);

  // Paths compare by bytes, so that a folder's content is one range of the key.
  await sql`
    CREATE TABLE session_files (
      tenant text NOT NULL,
      session_id text NOT NULL,
      path text COLLATE "C" NOT NULL CHECK (path LIKE '/_%'),
      parent text COLLATE "C" NOT NULL,
      is_directory boolean NOT NULL,
      is_readonly boolean NOT NULL DEFAULT false,
      content bytea,
      encoding text NOT NULL DEFAULT 'text' CHECK (encoding IN ('text', 'base64')),
      size_bytes int NOT NULL DEFAULT 0,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (tenant, session_id, path),
      FOREIGN KEY (tenant, session_id) REFERENCES sessions ON DELETE CASCADE,
      CHECK (is_directory = (content IS NULL))
    )`.execute(db);
  await sql`CREATE INDEX session_files_by_parent ON session_files (tenant, session_id, parent, path)`.execute(db);

  await sql`
    CREATE TABLE scratchpad (
      tenant text NOT NULL,
      session_id text NOT NULL,
      section text COLLATE "C" NOT NULL,
      seq bigint GENERATED ALWAYS AS IDENTITY,
      content bytea NOT NULL,
      updated_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (tenant, session_id, section),
      FOREIGN KEY (tenant, session_id) REFERENCES sessions ON DELETE CASCADE
    )`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  for (const table of ['scratchpad', 'session_files', 'sessions', 'agents'])
    await sql`DROP TABLE ${sql.table(table)} CASCADE`.execute(db);
}
