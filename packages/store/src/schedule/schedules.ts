import type { JsonObject, Overlap, Page, Principal, Schedule, ScheduleFire } from '@capstan/contracts';
import { sql } from 'kysely';
import { appendAudit } from '../audit/append-audit.js';
import type { Db, Store } from '../open-store.js';
import { type PageWanted, pageOf } from '../page-of.js';
import type { ScheduleTable } from './tables.js';

export type NewScheduleRow = {
  schedule_id: string;
  name: string | null;
  cron: string | null;
  time_zone: string;
  every_ms: number | null;
  submission: JsonObject | null;
  tool_id: string | null;
  plan: JsonObject | null;
  plan_hash: string | null;
  inputs: JsonObject;
  overlap: Overlap;
  catch_up: number;
  paused: boolean;
  next_at: string | null;
  /** The start of the first interval of `every_ms`; `next_at` is computed from it. */
  created_at: string;
};

const SHOWN = [
  'schedule_id',
  'name',
  'actor',
  'cron',
  'time_zone',
  'every_ms',
  'tool_id',
  'plan_hash',
  'overlap',
  'catch_up',
  'paused',
  'paused_reason',
  'next_at',
  'last_at',
  'last_run_id',
  'last_error',
  'created_at',
] as const;

const toSchedule = <Row extends { every_ms: string | null }>({ every_ms, ...row }: Row) => ({
  ...row,
  every_ms: every_ms === null ? null : Number(every_ms),
});

/** The current time by Postgres' clock, which determines what is due. */
export async function storeNow(db: Db): Promise<Date> {
  const { rows } = await sql<{ now: string }>`SELECT now() AS now`.execute(db);
  return new Date(rows[0]?.now ?? Number.NaN);
}

export async function insertSchedule(store: Store, by: Principal, row: NewScheduleRow): Promise<void> {
  const { tenant, actor, key_id } = by;
  const json = (value: JsonObject | null) => (value === null ? null : JSON.stringify(value));
  await store.db.transaction().execute(async (db) => {
    await db
      .insertInto('schedules')
      .values({
        ...row,
        tenant,
        actor,
        key_id,
        paused_reason: null,
        submission: json(row.submission),
        plan: json(row.plan),
        inputs: JSON.stringify(row.inputs),
        last_run_id: null,
        last_error: null,
      })
      .execute();
    await appendAudit(db, [{ tenant, actor, event: 'schedule.create', subject: row.schedule_id }]);
  });
}

export type StoredSchedule = Schedule & { inputs: JsonObject; plan: JsonObject | null; key_id: string | null };

export async function getSchedule(db: Db, tenant: string, schedule_id: string): Promise<StoredSchedule | undefined> {
  const row = await db
    .selectFrom('schedules')
    .select([...SHOWN, 'inputs', 'plan', 'key_id'])
    .where('tenant', '=', tenant)
    .where('schedule_id', '=', schedule_id)
    .executeTakeFirst();
  return row && toSchedule(row);
}

/** Newest first. */
export async function listSchedules(db: Db, tenant: string, page: PageWanted): Promise<Page<Schedule>> {
  let query = db
    .selectFrom('schedules')
    .select([...SHOWN, 'seq'])
    .where('tenant', '=', tenant)
    .orderBy('seq', 'desc')
    .limit(page.limit + 1);
  if (page.cursor) query = query.where('seq', '<', page.cursor);
  const rows = await query.execute();
  return pageOf(rows, page.limit, ({ seq: _, ...row }) => toSchedule(row));
}

export type ScheduleUpdate = Partial<
  Pick<NewScheduleRow, 'name' | 'cron' | 'time_zone' | 'every_ms' | 'overlap' | 'catch_up' | 'paused' | 'next_at'> &
    Pick<ScheduleTable, 'actor' | 'key_id' | 'paused_reason'>
>;

export async function updateSchedule(
  store: Store,
  by: Principal,
  schedule_id: string,
  update: ScheduleUpdate,
): Promise<boolean> {
  return store.db.transaction().execute(async (db) => {
    const { numUpdatedRows } = await db
      .updateTable('schedules')
      .set(update)
      .where('tenant', '=', by.tenant)
      .where('schedule_id', '=', schedule_id)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) return false;
    const changed = Object.keys(update);
    await appendAudit(db, [
      { tenant: by.tenant, actor: by.actor, event: 'schedule.update', subject: schedule_id, detail: { changed } },
    ]);
    return true;
  });
}

/** Pauses the schedules of a key that is about to be deleted, because nothing may run with a deleted key. */
export const pauseSchedulesOf = (db: Db, key_id: string) =>
  db
    .updateTable('schedules')
    .set({
      paused: true,
      paused_reason: 'the key that it ran with was revoked; resuming it transfers it to the person who does',
    })
    .where('key_id', '=', key_id)
    .execute();

/** Calls and runs that it started continue. */
export async function deleteSchedule(store: Store, by: Principal, schedule_id: string): Promise<boolean> {
  return store.db.transaction().execute(async (db) => {
    const { numDeletedRows } = await db
      .deleteFrom('schedules')
      .where('tenant', '=', by.tenant)
      .where('schedule_id', '=', schedule_id)
      .executeTakeFirst();
    if (numDeletedRows === 0n) return false;
    await appendAudit(db, [{ tenant: by.tenant, actor: by.actor, event: 'schedule.delete', subject: schedule_id }]);
    return true;
  });
}

export const lastFires = (db: Db, schedule_id: string, limit: number): Promise<ScheduleFire[]> =>
  db
    .selectFrom('schedule_fires')
    .select(['fire_at', 'outcome', 'run_id', 'detail'])
    .where('schedule_id', '=', schedule_id)
    .orderBy('fire_at', 'desc')
    .limit(limit)
    .execute();
