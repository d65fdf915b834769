import { z } from 'zod';
import { QueueName } from './runner-type.js';

export const WorkerInfo = z.object({
  worker_id: z.string(),
  runners: z.array(QueueName),
  host: z.string(),
  pid: z.int(),
  concurrency: z.int(),
  status: z.enum(['alive', 'draining', 'stopped', 'lost']),
  running: z.int(),
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
});
export type QueueInfo = z.infer<typeof QueueInfo>;

/** What an autoscaler needs to know of a queue. `desired`: how many calls should be able to run at once. */
export const QueueScale = z.object({
  /** Calls that a worker could take now. */
  waiting: z.int(),
  running: z.int(),
  /** How long ago the oldest of those that wait was submitted; 0 when none waits. */
  oldest_wait_s: z.number(),
  /** Calls that the live workers can run at once. */
  slots: z.int(),
  /** `waiting` and `running` together; `running` alone while the queue is paused. */
  desired: z.int(),
});
export type QueueScale = z.infer<typeof QueueScale>;
