import { z } from 'zod';
import { QueueName } from './runner-type.js';

export const StatsBy = z.enum(['runner', 'tool_id', 'status']);
export type StatsBy = z.infer<typeof StatsBy>;

const Ms = z.int().nullable();

export const StatsPoint = z.object({
  t: z.iso.datetime().describe('The start of the step'),
  count: z.int().describe('Calls that ended'),
  failed: z.int().describe('Calls that ended failed, timed out or ambiguous'),
  wait_p50_ms: Ms.describe('Time in the queue, without holds and delays; null if nothing started'),
  wait_p95_ms: Ms,
  run_p50_ms: Ms,
  run_p95_ms: Ms,
});
export type StatsPoint = z.infer<typeof StatsPoint>;

const Moment = z.iso.datetime({ offset: true });
export const StatsQuery = z.strictObject({
  since: Moment.optional().describe('An hour ago by default'),
  until: Moment.optional().describe('Now by default'),
  step: z.coerce
    .number()
    .int()
    .min(60)
    .max(86_400 * 7)
    .multipleOf(60)
    .optional()
    .describe('In seconds; by default chosen to give up to 120 points'),
  by: StatsBy.default('runner'),
});
export type StatsQuery = z.infer<typeof StatsQuery>;

export const Stats = z.object({
  step_s: z.int(),
  series: z.array(
    z.object({
      runner: z.string().optional(),
      tool_id: z.string().optional(),
      status: z.string().optional(),
      points: z.array(StatsPoint).describe('In order; steps in which no call ended are left out'),
    }),
  ),
});
export type Stats = z.infer<typeof Stats>;

export const StatsNow = z.object({
  at: z.iso.datetime(),
  runners: z.array(
    z.object({
      runner: QueueName,
      paused: z.boolean(),
      queued: z.int(),
      deferred: z.int(),
      held: z.int(),
      running: z.int(),
      oldest_waiting_at: z.iso.datetime().nullable().describe('When the oldest waiting call was queued'),
      workers: z.int().describe('Workers of this type; without any, its calls do not run'),
      slots: z.int().describe('Calls of this type that the workers can run at once'),
      slots_used: z.int().describe('Slots used by all tenants'),
    }),
  ),
  holds: z.object({ pending: z.int(), expiring: z.int().describe('Holds that expire within an hour') }),
});
export type StatsNow = z.infer<typeof StatsNow>;
