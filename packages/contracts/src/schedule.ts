import { z } from 'zod';
import { Hash } from './hash.js';
import { Submission } from './invocation.js';
import { JsonObject } from './json.js';
import { RunSubmission } from './run.js';
import { DAY_MS } from './time.js';

/** What happens if a start is due before the previous run has ended. `queue`: it starts after it. `cancel`: it replaces it. */
export const Overlap = z.enum(['skip', 'queue', 'cancel']);
export type Overlap = z.infer<typeof Overlap>;

/** The most starts that wait for the previous run. Further ones are skipped. */
export const MAX_QUEUED_FIRES = 100;

const When = {
  cron: z
    .string()
    .min(1)
    .max(255)
    .optional()
    .describe('Five fields, or six with seconds first; also @daily and similar'),
  time_zone: z.string().min(1).max(64).optional().describe('An IANA name like Europe/Berlin; UTC by default'),
  every_ms: z
    .int()
    .min(1000)
    .max(366 * DAY_MS)
    .optional(),
};
const How = {
  name: z.string().min(1).max(255).optional(),
  overlap: Overlap.optional(),
  catch_up: z
    .int()
    .min(0)
    .max(100)
    .optional()
    .describe('How many missed starts are run after a downtime; 1 by default'),
  paused: z.boolean().optional(),
};

/** Either `cron` or `every_ms`, and either a tool or a plan. */
export const NewSchedule = z
  .strictObject({
    ...When,
    ...How,
    tool_id: Submission.shape.tool_id.optional(),
    plan: RunSubmission.shape.plan.optional(),
    inputs: JsonObject.optional(),
    max_parallel: RunSubmission.shape.max_parallel,
    webhook_url: Submission.shape.webhook_url,
    session_id: Submission.shape.session_id,
    timeout_ms: Submission.shape.timeout_ms,
    max_attempts: Submission.shape.max_attempts,
    priority: Submission.shape.priority.unwrap().optional(),
    labels: Submission.shape.labels.unwrap().optional(),
  })
  .refine((one) => (one.cron === undefined) !== (one.every_ms === undefined), 'either cron or every_ms is given')
  .refine((one) => (one.tool_id === undefined) !== (one.plan === undefined), 'either tool_id or plan is given');
export type NewSchedule = z.infer<typeof NewSchedule>;

export const ScheduleChange = z
  .strictObject({ ...When, ...How })
  .refine((one) => one.cron === undefined || one.every_ms === undefined, 'either cron or every_ms is given')
  .refine((one) => Object.keys(one).length > 0, 'at least one field must be given');
export type ScheduleChange = z.infer<typeof ScheduleChange>;

export const Schedule = z.object({
  schedule_id: z.string(),
  name: z.string().nullable(),
  actor: z.string(),
  cron: z.string().nullable(),
  time_zone: z.string(),
  every_ms: z.int().nullable(),
  tool_id: z.string().nullable(),
  plan_hash: Hash.nullable(),
  overlap: Overlap,
  catch_up: z.int(),
  paused: z.boolean(),
  paused_reason: z.string().nullable().describe('Why the schedule was paused automatically'),
  next_at: z.iso.datetime().nullable(),
  last_at: z.iso.datetime().nullable(),
  last_run_id: z.string().nullable(),
  last_error: z.string().nullable().describe('Why the last start failed'),
  created_at: z.iso.datetime(),
});
export type Schedule = z.infer<typeof Schedule>;

/** A start that was due, and its outcome. */
export const ScheduleFire = z.object({
  fire_at: z.iso.datetime(),
  outcome: z.enum(['started', 'skipped', 'queued', 'failed']),
  run_id: z.string().nullable(),
  detail: z.string().nullable(),
});
export type ScheduleFire = z.infer<typeof ScheduleFire>;

export const ScheduleDetail = Schedule.extend({
  inputs: JsonObject,
  plan: JsonObject.nullable(),
  next: z.array(z.iso.datetime()).describe('The next starts'),
  last: z.array(ScheduleFire).describe('The last starts, latest first'),
});
export type ScheduleDetail = z.infer<typeof ScheduleDetail>;
