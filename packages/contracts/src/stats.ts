import { z } from 'zod';
import { QueueName } from './runner-type.js';

export const StatsBy = z.enum(['runner', 'tool_id', 'status']);
export type StatsBy = z.infer<typeof StatsBy>;

const Ms = z.int().nullable();

export const StatsPoint = z.object({
  t: z.iso.datetime().describe('When the step begins'),
  count: z.int().describe('Calls that ended'),
  failed: z.int().describe('Of these: failed, timed out, or nobody knows'),
  wait_p50_ms: Ms.describe('In the queue, without the time it was held or delayed; null where nothing started'),
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
    .describe('Seconds; what gives up to 120 points by default'),
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
      points: z.array(StatsPoint).describe('In order; a step in which nothing ended has none'),
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
      oldest_waiting_at: z.iso.datetime().nullable().describe('Since when the first one in the queue is there'),
      workers: z.int().describe('That serve this type: with 0, nothing of it runs'),
      slots: z
        .int()
        .describe('What the workers run at once; those of one that serves several types are shared out evenly'),
      slots_used: z.int().describe('By all tenants'),
    }),
  ),
  holds: z.object({ pending: z.int(), expiring: z.int().describe('Within the hour') }),
});
export type StatsNow = z.infer<typeof StatsNow>;
