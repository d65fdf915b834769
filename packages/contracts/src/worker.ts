import { z } from 'zod';
import { QueueName } from './runner-type.js';

/** A call that a worker is running. */
export const RunningCall = z.object({ invocation_id: z.string(), tool_id: z.string(), since: z.iso.datetime() });
export type RunningCall = z.infer<typeof RunningCall>;

export const MAX_CALLS_SHOWN = 20;

export const WorkerInfo = z.object({
  worker_id: z.string(),
  runners: z.array(QueueName),
  host: z.string(),
  pid: z.int(),
  concurrency: z.int().describe('Calls that it can run at once, of all its runner types together'),
  status: z.enum(['alive', 'draining', 'stopped', 'lost']),
  running: z.int().describe('Calls of all tenants that it is running'),
  calls: z.array(RunningCall).describe(`The longest running calls of the caller's tenant, at most ${MAX_CALLS_SHOWN}`),
  started_at: z.iso.datetime(),
  seen_at: z.iso.datetime(),
});
export type WorkerInfo = z.infer<typeof WorkerInfo>;

export const QueueInfo = z.object({
  runner: QueueName,
  paused: z.boolean(),
  queued: z.int(),
  deferred: z.int(),
  held: z.int(),
  running: z.int(),
  workers: z.int(),
  oldest_wait_s: z.number().describe('The age of the oldest waiting call; 0 if none waits'),
  slots: z.int().describe('Calls that the live workers can run at once'),
});
export type QueueInfo = z.infer<typeof QueueInfo>;

/** The load of a queue for an autoscaler. `desired`: how many calls should be able to run at once. */
export const QueueScale = z.object({
  /** Calls that a worker could take now. */
  waiting: z.int(),
  running: z.int(),
  /** How long the oldest waiting call could have run; 0 if none waits. */
  oldest_wait_s: z.number(),
  /** Calls that the live workers can run at once. */
  slots: z.int(),
  /** The sum of `waiting` and `running`; only `running` while the queue is paused. */
  desired: z.int(),
});
export type QueueScale = z.infer<typeof QueueScale>;
