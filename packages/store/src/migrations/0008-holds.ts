import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // Written by the statement that inserts the held invocation. No foreign keys, as elsewhere: whoever writes here has the
  // invocation locked.
  await sql`
    CREATE TABLE holds (
      hold_id text PRIMARY KEY,
      seq bigint GENERATED ALWAYS AS IDENTITY,
      invocation_id text NOT NULL UNIQUE,
      tenant text NOT NULL,
      actor text NOT NULL,
      tool_id text NOT NULL,
      status text NOT NULL DEFAULT 'pending'
        CHECK (status IN ('pending', 'released', 'rejected', 'expired', 'withdrawn', 'canceled')),
      -- Counts up each time it comes back: votes of an earlier round are void.
      round int NOT NULL DEFAULT 1,
      approvals json,
      returned_because text,
      -- As submitted, once somebody has changed them.
      original_inputs json,
      original_input_hash text,
      -- What was approved, and nothing else may run.
      approved_input_hash text,
      approved_descriptor_hash text,
      approved_policy_hash text,
      approval_expires_at timestamptz,
      used_at timestamptz,
      -- The run it was for has ended.
      spent boolean NOT NULL DEFAULT false,
      expires_in_ms bigint NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      expires_at timestamptz NOT NULL,
      warn_at timestamptz,
      announced_round int NOT NULL DEFAULT 0,
      decided_at timestamptz,
      decided_by text,
      CHECK ((status = 'released') = (approved_input_hash IS NOT NULL)),
      CHECK ((status = 'pending') = (decided_at IS NULL))
    )`.execute(db);
  await sql`CREATE INDEX holds_by_tenant ON holds (tenant, seq)`.execute(db);
  await sql`CREATE INDEX holds_pending ON holds (tenant, seq) WHERE status = 'pending'`.execute(db);
  // What the coordinator has not seen yet, and what it has to warn of.
  await sql`CREATE INDEX holds_fresh ON holds (seq) WHERE status = 'pending' AND announced_round < round`.execute(db);
  await sql`CREATE INDEX holds_warning ON holds (warn_at) WHERE status = 'pending' AND warn_at IS NOT NULL`.execute(db);

  // What was held before there were holds can be decided on too.
  await sql`
    INSERT INTO holds (hold_id, invocation_id, tenant, actor, tool_id, approvals, expires_in_ms, created_at, expires_at)
    SELECT 'hld_' || substr(invocation_id, 5), invocation_id, tenant, actor, tool_id, decision -> 'approvals',
      extract(epoch FROM coalesce(expires_at, now() + interval '1 day') - created_at) * 1000, created_at,
      coalesce(expires_at, now() + interval '1 day')
    FROM invocations WHERE status = 'held' ORDER BY seq`.execute(db);

  await sql`
    CREATE TABLE hold_entries (
      hold_id text NOT NULL,
      seq bigint GENERATED ALWAYS AS IDENTITY,
      at timestamptz NOT NULL DEFAULT now(),
      actor text NOT NULL,
      kind text NOT NULL CHECK (kind IN ('release', 'reject', 'comment', 'edit', 'return', 'withdraw')),
      round int NOT NULL,
      comment text,
      input_hash text,
      descriptor_hash text,
      policy_hash text,
      previous_input_hash text,
      changed text[],
      grant_id text,
      PRIMARY KEY (hold_id, seq)
    )`.execute(db);
  // One vote for each actor and each thing voted on.
  await sql`CREATE UNIQUE INDEX hold_votes ON hold_entries (hold_id, round, actor, input_hash, descriptor_hash, policy_hash)
    WHERE kind = 'release'`.execute(db);

  await sql`
    CREATE TABLE grants (
      grant_id text PRIMARY KEY,
      seq bigint GENERATED ALWAYS AS IDENTITY,
      tenant text NOT NULL,
      actor text NOT NULL,
      roles text[] NOT NULL,
      kind text NOT NULL CHECK (kind IN ('tool', 'plan')),
      tool_id text,
      plan_hash text,
      input_hash text,
      max_risk text,
      count int,
      used int NOT NULL DEFAULT 0,
      -- Whether the holds that were pending when it came have been looked at.
      applied boolean NOT NULL DEFAULT false,
      comment text,
      created_at timestamptz NOT NULL DEFAULT now(),
      expires_at timestamptz NOT NULL,
      revoked_at timestamptz,
      CHECK (count IS NULL OR used <= count),
      CHECK ((kind = 'plan') = (plan_hash IS NOT NULL)),
      CHECK (kind = 'plan' OR tool_id IS NOT NULL)
    )`.execute(db);
  await sql`CREATE INDEX grants_new ON grants (seq) WHERE NOT applied`.execute(db);
  await sql`CREATE INDEX grants_by_tenant ON grants (tenant, seq)`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  for (const table of ['grants', 'hold_entries', 'holds']) await sql`DROP TABLE ${sql.table(table)}`.execute(db);
}
