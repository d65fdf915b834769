import { z } from 'zod';
import { Effects, Risk, SideEffect } from './descriptor.js';
import { LogStream } from './event.js';
import { type Json, JsonObject } from './json.js';
import { Pool } from './runner-type.js';

/** The id of a tool within its pool: `refund` in the pool `billing` is `app:billing:refund`. */
export const AppToolId = z
  .string()
  .regex(/^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,99}$/, 'letters, digits, dot, dash and underscore');

/** A tool as declared by its own process. Effects that it does not declare get the dangerous value. */
export const ToolDeclaration = z.strictObject({
  id: AppToolId,
  name: z.string().min(1).max(200).optional(),
  description: z.string().max(10_000).default(''),
  input_schema: JsonObject,
  output_schema: JsonObject.optional(),
  risk: Risk.optional(),
  side_effects: z.array(SideEffect).optional(),
  effects: Effects.omit({ filesystem: true })
    .partial()
    .extend({ filesystem: Effects.shape.filesystem.partial().optional() })
    .optional(),
  timeout_ms: z.int().positive().max(86_400_000).optional(),
});
export type ToolDeclaration = z.input<typeof ToolDeclaration>;

const Version = z.string().min(1).max(100);

export const NewPoolTools = z.strictObject({
  version: Version.describe('The name of this set of tools; workers of several versions may serve at the same time'),
  tools: z
    .array(ToolDeclaration)
    .max(1000)
    .refine((tools) => new Set(tools.map(({ id }) => id)).size === tools.length, 'each id once'),
});
export type NewPoolTools = z.input<typeof NewPoolTools>;

export const PoolTools = z.object({
  pool: Pool,
  version: Version,
  tools: z.array(z.object({ tool_id: z.string(), descriptor_hash: z.string() })),
  changed: z.array(z.string()).describe('The ids of the tools that it added, changed or removed'),
});
export type PoolTools = z.infer<typeof PoolTools>;

/** Unique to one process. Two that share a name would receive each other's calls. */
const WorkerName = z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/, 'letters, digits, dash and underscore, at most 64');
const MAX_WAIT_S = 60;
const WaitS = z.number().min(0).max(MAX_WAIT_S).default(0);
const Ids = z.array(z.string().max(200)).max(10_000);

export const PoolClaim = z.strictObject({
  worker_id: WorkerName,
  slots: z.int().min(0).max(1000).describe('How many more calls it can begin now'),
  wait_s: WaitS.describe('How long to wait for a call if there is none'),
  version: Version.optional().describe('The version of the tools that it serves; by default the latest'),
  running: Ids.optional().describe(
    'The calls that it has and has not settled. Those under its name that it does not list never reached it, and are answered again',
  ),
  seq: z.int().nonnegative().optional().describe('Increases by one with every claim of this worker'),
});
export type PoolClaim = z.input<typeof PoolClaim>;

export const AppCall = z.object({
  invocation_id: z.string(),
  attempt: z.int(),
  tool_id: z.string(),
  inputs: JsonObject,
  tenant: z.string(),
  actor: z.string(),
  session_id: z.string().nullable(),
  idempotency_key: z.string().describe('The same for every attempt of this invocation, and unique to it'),
  deadline_at: z.iso.datetime(),
  timeout_ms: z.number().describe('The time left until deadline_at, for workers whose clock differs'),
  traceparent: z.string().nullable(),
});
export type AppCall = z.infer<typeof AppCall>;

export const PoolClaimed = z.object({ calls: z.array(AppCall), lease_ms: z.int() });
export type PoolClaimed = z.infer<typeof PoolClaimed>;

export const PoolBeat = z.strictObject({
  worker_id: WorkerName,
  running: Ids.describe('The calls that it has not settled yet'),
  wait_s: WaitS.describe('How long to wait for a call to cancel; the lease is renewed first'),
  state: z.enum(['serving', 'draining', 'stopped']).default('serving'),
});
export type PoolBeat = z.input<typeof PoolBeat>;

export const PoolBeaten = z.object({
  cancel: z.array(z.string()).describe('Calls to stop, and then to settle'),
  lost: z.array(z.string()).describe('Calls that no longer belong to this worker: their results are refused'),
  lease_ms: z.int(),
});
export type PoolBeaten = z.infer<typeof PoolBeaten>;

const Attempt = { invocation_id: z.string().max(200), attempt: z.int().positive() };

/** The result of an attempt, as reported by its worker. */
export const AppResult = z.discriminatedUnion('status', [
  z.strictObject({
    ...Attempt,
    status: z.literal('succeeded'),
    payload: z.custom<Json>((value) => value !== undefined, 'a JSON value'),
  }),
  z.strictObject({
    ...Attempt,
    status: z.literal('failed'),
    error: z.string(),
    retryable: z.boolean().default(false).describe('Whether a retry of the same call may succeed'),
  }),
  z.strictObject({ ...Attempt, status: z.literal('unknown'), error: z.string() }).describe('It may have taken effect'),
  z
    .strictObject({ ...Attempt, status: z.literal('stopped') })
    .describe('Stopped early: by a cancellation, its deadline, or the shutdown of its worker'),
  z.strictObject({ ...Attempt, status: z.literal('returned') }).describe('Never started'),
]);
export type AppResult = z.input<typeof AppResult>;

export const PoolSettlement = z.strictObject({ worker_id: WorkerName, results: z.array(AppResult).min(1).max(1000) });
export type PoolSettlement = z.input<typeof PoolSettlement>;

export const PoolSettled = z.object({
  outcomes: z.array(
    z.object({
      ...Attempt,
      outcome: z.enum(['taken', 'refused']),
      status: z.string().nullable().describe('The status of the invocation afterwards; null if the report was refused'),
    }),
  ),
});
export type PoolSettled = z.infer<typeof PoolSettled>;

export const PoolLogs = z.strictObject({
  worker_id: WorkerName,
  lines: z
    .array(z.strictObject({ ...Attempt, stream: LogStream.default('stdout'), text: z.string().max(1_000_000) }))
    .max(10_000),
});
export type PoolLogs = z.input<typeof PoolLogs>;

export const PoolArtifact = z.strictObject({
  worker_id: WorkerName,
  invocation_id: Attempt.invocation_id,
  attempt: z.coerce.number().int().positive(),
  name: z.string().min(1).max(500),
});
export type PoolArtifact = z.input<typeof PoolArtifact>;

export const PoolSecret = z.strictObject({
  worker_id: WorkerName,
  ...Attempt,
  name: z.string().max(200),
  hosts: z.array(z.string().max(300)).min(1).max(100).default(['*']).describe('The hosts it will be sent to'),
});
export type PoolSecret = z.input<typeof PoolSecret>;
