import { describeErrors } from '@capstan/catalog';
import {
  Failure,
  hasRole,
  type JsonObject,
  type NewSchedule,
  type Principal,
  type ScheduleChange,
  type ScheduleDetail,
  Submission,
} from '@capstan/contracts';
import { createTimetable, type Timetable } from '@capstan/plan';
import {
  getSchedule,
  insertSchedule,
  lastFires,
  type ScheduleUpdate,
  storeNow,
  updateSchedule,
} from '@capstan/store/schedule';
import { nanoid } from 'nanoid';
import type { GatewayContext } from '../gateway-context.js';
import { invalidRequest } from '../http/parse-request.js';
import { notFound } from '../invocation/act-on.js';
import { readPlan } from '../run/read-plan.js';

const SHOWN = 10;
/** The submission options that a schedule supports, besides the tool and its inputs. */
const OPTIONS = [
  'session_id',
  'timeout_ms',
  'max_attempts',
  'priority',
  'labels',
  'webhook_url',
  'max_parallel',
] as const;

export async function createSchedule(
  gateway: GatewayContext,
  principal: Principal,
  sent: NewSchedule,
): Promise<ScheduleDetail> {
  requireKey(principal);
  gateway.webhook_addresses.check(sent.webhook_url, 'webhook_url');
  const target = sent.plan === undefined ? readTool(gateway, sent) : await readSentPlan(gateway, principal, sent);
  const now = await storeNow(gateway.store.db);
  const when = { cron: sent.cron ?? null, time_zone: sent.time_zone ?? 'UTC', every_ms: sent.every_ms ?? null };
  const schedule_id = `sch_${nanoid()}`;
  await insertSchedule(gateway.store, principal, {
    schedule_id,
    name: sent.name ?? null,
    ...when,
    ...target,
    submission: optionsOf(sent),
    overlap: sent.overlap ?? 'skip',
    catch_up: sent.catch_up ?? 1,
    paused: sent.paused ?? false,
    next_at: firstOf(createTimetable({ ...when, since: now }), now),
    created_at: now.toISOString(),
  });
  gateway.relay.publish('due', [schedule_id]);
  return readSchedule(gateway, principal, schedule_id);
}

function readTool({ catalog }: GatewayContext, { tool_id = '', inputs = {} }: NewSchedule) {
  const tool = catalog.get(tool_id);
  if (!tool) {
    const similar = catalog.similar(tool_id);
    throw new Failure('UNKNOWN_TOOL', {
      detail: `There is no tool ${JSON.stringify(tool_id)}.`,
      ...(similar.length > 0 ? { suggestion: `Did you mean ${similar.join(', ')}?` } : {}),
    });
  }
  const errors = tool.check(inputs);
  if (errors.length > 0) throw new Failure('INVALID_INPUTS', { detail: describeErrors(errors), context: { errors } });
  return { tool_id: tool.descriptor.tool_id, plan: null, plan_hash: null, inputs };
}

async function readSentPlan(gateway: GatewayContext, { tenant }: Principal, sent: NewSchedule) {
  const plan = await readPlan(gateway, tenant, sent.plan);
  // Checked now, so that the schedule does not fail when it starts the plan.
  plan.inputs.fill(sent.inputs ?? {});
  return { tool_id: null, plan: plan.document, plan_hash: plan.plan_hash, inputs: sent.inputs ?? {} };
}

function optionsOf(sent: NewSchedule): JsonObject {
  const options: JsonObject = {};
  for (const name of OPTIONS) {
    const value = sent[name];
    if (value !== undefined) options[name] = value;
  }
  if (sent.plan !== undefined) return options;
  const { max_parallel: _, ...submission } = options;
  const checked = Submission.safeParse({ tool_id: 'any', ...submission });
  if (!checked.success) throw invalidRequest(checked.error, 'body');
  return submission;
}

function firstOf(timetable: Timetable, now: Date): string {
  const next = timetable.next(now);
  if (!next) throw new Failure('INVALID_REQUEST', { detail: 'cron: this pattern never matches' });
  return next.toISOString();
}

export async function readSchedule(
  { store }: GatewayContext,
  { tenant }: Principal,
  id: string,
): Promise<ScheduleDetail> {
  const schedule = await getSchedule(store.db, tenant, id);
  if (!schedule) throw notFound(id);
  const { next_at, cron, time_zone, every_ms, created_at } = schedule;
  const timetable = createTimetable({ cron, time_zone, every_ms, since: new Date(created_at) });
  const next: string[] = [];
  for (let at = next_at === null ? null : new Date(next_at); at && next.length < SHOWN; at = timetable.next(at))
    next.push(at.toISOString());
  const { key_id: _, ...shown } = schedule;
  return { ...shown, next: schedule.paused ? [] : next, last: await lastFires(store.db, id, SHOWN) };
}

/** A changed or resumed schedule is next due from now on. Starts missed during a pause are not made up for. */
export async function changeSchedule(
  gateway: GatewayContext,
  principal: Principal,
  id: string,
  change: ScheduleChange,
): Promise<ScheduleDetail> {
  const { store, relay } = gateway;
  const before = await getSchedule(store.db, principal.tenant, id);
  if (!before) throw notFound(id);
  const when = {
    cron: change.cron ?? (change.every_ms === undefined ? before.cron : null),
    every_ms: change.every_ms ?? (change.cron === undefined ? before.every_ms : null),
    time_zone: change.time_zone ?? before.time_zone,
  };
  const now = await storeNow(store.db);
  const timed = change.cron !== undefined || change.every_ms !== undefined || change.time_zone !== undefined;
  const resumed = before.paused && change.paused === false;
  const timetable = createTimetable({ ...when, since: new Date(before.created_at) });
  const update: ScheduleUpdate = {
    ...(change.name === undefined ? {} : { name: change.name }),
    ...(change.overlap === undefined ? {} : { overlap: change.overlap }),
    ...(change.catch_up === undefined ? {} : { catch_up: change.catch_up }),
    ...(change.paused === undefined ? {} : { paused: change.paused }),
    ...(resumed ? { paused_reason: null, ...(before.key_id === null ? takenOverBy(principal) : {}) } : {}),
    ...(timed ? when : {}),
    ...(timed || resumed ? { next_at: firstOf(timetable, now) } : {}),
  };
  await updateSchedule(store, principal, id, update);
  relay.publish('due', [id]);
  return readSchedule(gateway, principal, id);
}

/** A schedule runs with the roles of a key until the key is deleted. A login would end too soon. */
function requireKey({ key_id }: Principal): void {
  if (key_id === '')
    throw new Failure('CALLER_REFUSED', {
      detail: 'A schedule runs with the roles of a key, and you logged in without one.',
      suggestion: 'Create a key with capstan keys create, and use it to create the schedule.',
    });
}

/** For a schedule whose key was revoked: from now on it runs with the key of whoever resumes it. */
function takenOverBy(principal: Principal): Pick<ScheduleUpdate, 'actor' | 'key_id'> {
  if (!hasRole(principal, 'submit'))
    throw new Failure('ROLE_MISSING', { detail: 'Taking over a schedule needs the role submit.' });
  requireKey(principal);
  return { actor: principal.actor, key_id: principal.key_id };
}
