import { z } from 'zod';
import { RunnerType } from './runner-type.js';

export const WorkerInfo = z.object({
  worker_id: z.string(),
  runners: z.array(RunnerType),
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
  runner: RunnerType,
  paused: z.boolean(),
  queued: z.int(),
  deferred: z.int(),
  held: z.int(),
  running: z.int(),
  workers: z.int(),
});
export type QueueInfo = z.infer<typeof QueueInfo>;
