import type { Backbone } from '@capstan/backbone';
import { MAX_QUEUED_FIRES, type ScheduleFire } from '@capstan/contracts';
import { createTimetable, type Timetable } from '@capstan/plan';
import type { PolicyCache } from '@capstan/policy';
import { publishEnded } from '@capstan/queue';
import type { Db } from '@capstan/store';
import { cancelInvocations } from '@capstan/store/invocation';
import { controlPlanRun } from '@capstan/store/plan';
import { tenantPolicyInForce } from '@capstan/store/policy';
import {
  claimDueSchedule,
  claimQueuedFire,
  countQueuedFires,
  type DueSchedule,
  hasFired,
  isRunLive,
  recordFire,
  schedulesWithQueued,
  setNextFire,
} from '@capstan/store/schedule';
import { type StartedFire, startScheduled } from './start-scheduled.js';

/** A start that is overdue by more than this was missed, and is skipped with `catch_up: 0`. */
const MISSED_MS = 30_000;
const MAX_WAITING = 100;

/**
 * Fires the schedule that has been due longest. The claim, the next start time and the call or run it creates are one transaction,
 * so each start happens once with any number of coordinators. Times are those of Postgres' clock.
 */
export async function fireNextSchedule(backbone: Backbone, policies: PolicyCache): Promise<number> {
  const fired = await backbone.store.db.transaction().execute(async (db) => {
    const schedule = await claimDueSchedule(db);
    if (!schedule) return null;
    const now = new Date(schedule.now);
    const timetable = timetableOf(schedule);
    const started: StartedFire[] = [];
    const due: string[] = [];
    for (const fire_at of dueOf(schedule, timetable, now))
      if (!(await hasFired(db, schedule.schedule_id, fire_at))) due.push(fire_at);
    for (const fire_at of due) started.push(await fire(backbone, policies, db, schedule, fire_at, due.at(-1)));
    await setNextFire(db, schedule.schedule_id, timetable.next(now)?.toISOString() ?? null);
    return started;
  });
  for (const one of fired ?? []) follow(backbone, one);
  return fired ? 1 : 0;
}

/** Fires queued starts whose previous run has ended. */
export async function fireQueued(backbone: Backbone, policies: PolicyCache): Promise<void> {
  for (const schedule_id of await schedulesWithQueued(backbone.store, MAX_WAITING)) {
    const started = await backbone.store.db.transaction().execute(async (db) => {
      const queued = await claimQueuedFire(db, schedule_id);
      if (!queued) return null;
      const { schedule, fire_at } = queued;
      if (schedule.last_run_id !== null && (await isRunLive(db, schedule.last_run_id))) return null;
      return start(backbone, policies, db, schedule, fire_at);
    });
    if (started) follow(backbone, started);
  }
}

const timetableOf = ({ cron, time_zone, every_ms, created_at }: DueSchedule): Timetable =>
  createTimetable({
    cron,
    time_zone,
    every_ms: every_ms === null ? null : Number(every_ms),
    since: new Date(created_at),
  });

/** The starts that are due, including the last `catch_up` of those that were missed. */
function dueOf({ next_at, catch_up }: DueSchedule, timetable: Timetable, now: Date): string[] {
  const due = timetable.due(new Date(next_at ?? now), now, Math.max(1, catch_up));
  const wanted = catch_up > 0 ? due : due.filter((at) => now.getTime() - at.getTime() < MISSED_MS);
  return wanted.map((at) => at.toISOString());
}

async function fire(
  backbone: Backbone,
  policies: PolicyCache,
  db: Db,
  schedule: DueSchedule,
  fire_at: string,
  newest = fire_at,
): Promise<StartedFire> {
  const { schedule_id, overlap, last_run_id } = schedule;
  const live = last_run_id !== null && (await isRunLive(db, last_run_id));
  const waiting = overlap === 'queue' ? await countQueuedFires(db, schedule_id) : 0;
  const left = async (outcome: 'skipped' | 'queued', detail: string): Promise<StartedFire> => {
    const left: ScheduleFire = { fire_at, outcome, run_id: null, detail };
    await recordFire(db, schedule_id, left);
    return { ...left, committed: () => {} };
  };
  // Each start would cancel the one before, so of those due together only the newest is started.
  if (overlap === 'cancel' && fire_at !== newest) return left('skipped', `the start of ${newest} took its place`);
  if (live && overlap === 'skip') return left('skipped', `${last_run_id} had not ended`);
  if (waiting >= MAX_QUEUED_FIRES) return left('skipped', `${waiting} starts are already queued`);
  if (overlap === 'queue' && (live || waiting > 0)) return left('queued', `${last_run_id} had not ended`);
  // Cancel the old run first: if this process dies in between, another coordinator starts the new one. The old run was committed
  // earlier, so another connection can see it.
  if (live && last_run_id !== null) await cancelRun(backbone, schedule, last_run_id);
  return start(backbone, policies, db, schedule, fire_at);
}

async function start(
  backbone: Backbone,
  policies: PolicyCache,
  db: Db,
  schedule: DueSchedule,
  fire_at: string,
): Promise<StartedFire> {
  const in_force = await tenantPolicyInForce(db, schedule.tenant);
  const started = await startScheduled(backbone, db, schedule, fire_at, in_force ? policies.of(in_force) : null);
  await recordFire(db, schedule.schedule_id, started);
  schedule.last_run_id = started.run_id ?? schedule.last_run_id;
  return started;
}

async function cancelRun(
  { store, relay }: Backbone,
  { schedule_id, tenant, roles }: DueSchedule,
  run_id: string,
): Promise<void> {
  const by = { key_id: schedule_id, tenant, actor: 'coordinator', roles };
  await controlPlanRun(store, by, run_id, 'cancel');
  const canceled = await cancelInvocations(store, by, { run_id });
  const ids = (running: boolean) =>
    canceled.filter(({ status }) => (status === 'running') === running).map(({ invocation_id }) => invocation_id);
  relay.publish('cancel', ids(true));
  publishEnded(relay, ids(false));
  relay.publish('due', [run_id]);
}

function follow({ relay }: Backbone, { committed, run_id }: StartedFire): void {
  if (run_id !== null) relay.publish('due', [run_id]);
  committed();
}
