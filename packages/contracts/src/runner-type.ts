import { z } from 'zod';

/** What runs a tool: a kind of worker or, for `app`, a user's own process. */
export const RunnerType = z.enum(['exec', 'analyze', 'browser', 'api', 'mcp', 'file', 'db', 'builtin', 'app']);
export type RunnerType = z.infer<typeof RunnerType>;
export const RUNNER_TYPES = RunnerType.options;

type RunnerTraits = {
  /** Its tools are processes, for which a policy can require a sandbox. */
  starts_processes?: true;
  /** The inputs of its tools say where to connect, so that policy decides about the address. */
  inputs_name_address?: true;
  /** Its runs are cheaper than their own delivery; those committed together share a receipt. */
  is_short?: true;
};

/** What policy and delivery need to know of each runner type. */
export const RUNNER_TRAITS: Readonly<Record<RunnerType, RunnerTraits>> = {
  exec: { starts_processes: true },
  analyze: {},
  browser: { starts_processes: true, inputs_name_address: true },
  api: { inputs_name_address: true },
  mcp: { starts_processes: true },
  file: { is_short: true },
  db: {},
  builtin: { is_short: true },
  app: {},
};

/** A pool of processes that serve the same tools. */
export const Pool = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,39}$/, 'lower-case letters, digits, dash and underscore, at most 40');
export type Pool = z.infer<typeof Pool>;

/** Each runner type has its own queue, and each pool of `app` too, so that their workers scale separately. */
export type QueueName = Exclude<RunnerType, 'app'> | `app/${Pool}`;

const RunnerQueue = RunnerType.exclude(['app']);
/** The queues that every installation has. */
export const RUNNER_QUEUES: readonly Exclude<RunnerType, 'app'>[] = RunnerQueue.options;

export const queueOfPool = (pool: Pool): QueueName => `app/${pool}`;

export const isQueueName = (name: unknown): name is QueueName =>
  RunnerQueue.safeParse(name).success ||
  (typeof name === 'string' && name.startsWith('app/') && Pool.safeParse(name.slice('app/'.length)).success);

export const QueueName = z
  .string()
  .refine(isQueueName, { message: `one of ${RunnerQueue.options.join(', ')}, or app/ and a pool` })
  .meta({ description: 'A runner type, or app/ and a pool' });
