import { type JsonObject, loneInvocationId, type Role, type ScheduleFire } from '@capstan/contracts';
import { sql } from 'kysely';
import type { Db, Store } from '../open-store.js';
import type { ScheduleTable } from './tables.js';

/** A due schedule, locked until the transaction ends. */
export type DueSchedule = Pick<
  ScheduleTable,
  | 'schedule_id'
  | 'tenant'
  | 'actor'
  | 'name'
  | 'cron'
  | 'time_zone'
  | 'tool_id'
  | 'plan_hash'
  | 'overlap'
  | 'catch_up'
  | 'last_run_id'
> & {
  /** The current roles of its key. */
  roles: Role[];
  every_ms: string | null;
  submission: JsonObject | null;
  plan: JsonObject | null;
  inputs: JsonObject;
  next_at: string | null;
  created_at: string;
  /** The time of Postgres' clock. */
  now: string;
};

const CLAIMED = sql`s.schedule_id, s.tenant, s.actor, k.roles, s.name, s.cron, s.time_zone, s.every_ms, s.submission,
  s.tool_id, s.plan, s.plan_hash, s.inputs, s.overlap, s.catch_up, s.next_at, s.last_run_id, s.created_at, now() AS now
  FROM schedules s JOIN keys k ON k.key_id = s.key_id`;

export async function claimDueSchedule(db: Db): Promise<DueSchedule | undefined> {
  const { rows } = await sql<DueSchedule>`
    SELECT ${CLAIMED} WHERE NOT s.paused AND s.next_at IS NOT NULL AND s.next_at <= now()
    ORDER BY s.next_at LIMIT 1 FOR UPDATE OF s SKIP LOCKED`.execute(db);
  return rows[0];
}

/** Schedules with starts that wait for the previous run to end. */
export async function schedulesWithQueued(store: Store, limit: number): Promise<string[]> {
  const { rows } = await sql<{ schedule_id: string }>`
    SELECT DISTINCT schedule_id FROM schedule_fires WHERE outcome = 'queued' LIMIT ${limit}`.execute(store.db);
  return rows.map(({ schedule_id }) => schedule_id);
}

export async function claimQueuedFire(
  db: Db,
  schedule_id: string,
): Promise<{ schedule: DueSchedule; fire_at: string } | undefined> {
  const { rows } = await sql<DueSchedule>`
    SELECT ${CLAIMED} WHERE s.schedule_id = ${schedule_id} AND NOT s.paused FOR UPDATE OF s SKIP LOCKED`.execute(db);
  const [schedule] = rows;
  if (!schedule) return undefined;
  const fire = await db
    .selectFrom('schedule_fires')
    .select('fire_at')
    .where('schedule_id', '=', schedule_id)
    .where('outcome', '=', 'queued')
    .orderBy('fire_at')
    .executeTakeFirst();
  return fire && { schedule, fire_at: fire.fire_at };
}

export async function countQueuedFires(db: Db, schedule_id: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*)::int AS count FROM schedule_fires WHERE schedule_id = ${schedule_id} AND outcome = 'queued'`.execute(
    db,
  );
  return rows[0]?.count ?? 0;
}

/** True if this start is on record: a schedule that is set back does not fire the same start twice. */
export async function hasFired(db: Db, schedule_id: string, fire_at: string): Promise<boolean> {
  const row = await db
    .selectFrom('schedule_fires')
    .select('fire_at')
    .where('schedule_id', '=', schedule_id)
    .where('fire_at', '=', fire_at)
    .executeTakeFirst();
  return row !== undefined;
}

export async function isRunLive(db: Db, run_id: string): Promise<boolean> {
  const { rows } = await sql<{ live: boolean }>`
    SELECT EXISTS (SELECT FROM plan_runs WHERE run_id = ${run_id} AND active)
      OR EXISTS (SELECT FROM invocations i WHERE i.invocation_id = ${loneInvocationId(run_id)}
        AND NOT EXISTS (SELECT FROM results r WHERE r.invocation_id = i.invocation_id)) AS live`.execute(db);
  return rows[0]?.live ?? false;
}

/** A start is recorded once. Its final outcome replaces the note that it waited. */
export async function recordFire(db: Db, schedule_id: string, fire: ScheduleFire): Promise<void> {
  await sql`
    INSERT INTO schedule_fires (schedule_id, fire_at, outcome, run_id, detail)
    VALUES (${schedule_id}, ${fire.fire_at}, ${fire.outcome}, ${fire.run_id}, ${fire.detail})
    ON CONFLICT (schedule_id, fire_at) DO UPDATE SET outcome = excluded.outcome, run_id = excluded.run_id,
      detail = excluded.detail WHERE schedule_fires.outcome = 'queued'`.execute(db);
  if (fire.outcome === 'started' || fire.outcome === 'failed')
    await sql`UPDATE schedules SET last_at = ${fire.fire_at}, last_run_id = coalesce(${fire.run_id}, last_run_id),
      last_error = ${fire.outcome === 'failed' ? fire.detail : null} WHERE schedule_id = ${schedule_id}`.execute(db);
}

export const setNextFire = (db: Db, schedule_id: string, next_at: string | null) =>
  db.updateTable('schedules').set({ next_at }).where('schedule_id', '=', schedule_id).execute();

/** Time until the next start is due; null if there is none. */
export async function nextFireIn(store: Store): Promise<number | null> {
  const { rows } = await sql<{ in_ms: number | null }>`
    SELECT extract(epoch FROM min(next_at) - now())::float8 * 1000 AS in_ms
    FROM schedules WHERE NOT paused AND next_at IS NOT NULL`.execute(store.db);
  const in_ms = rows[0]?.in_ms ?? null;
  return in_ms === null ? null : Math.max(0, in_ms);
}
