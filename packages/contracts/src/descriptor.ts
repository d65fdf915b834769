import { z } from 'zod';
import { Binding } from './binding.js';
import { JsonObject } from './json.js';
import { type QueueName, queueOfPool, RunnerType } from './runner-type.js';

export const Risk = z.enum(['LOW', 'MED', 'HIGH', 'CRITICAL']);
export type Risk = z.infer<typeof Risk>;

export const SideEffect = z.enum([
  'fs.read',
  'fs.write',
  'fs.delete',
  'fs.chmod',
  'network.http',
  'network.socket',
  'network.dns',
  'cloud.key_read',
  'cloud.key_write',
  'cloud.resource_create',
  'cloud.resource_delete',
  'payments',
  'system.exec',
  'system.env',
  'database.read',
  'database.write',
  'database.delete',
]);
export type SideEffect = z.infer<typeof SideEffect>;

export const ToolSource = z.enum(['capability', 'extension', 'mcp', 'atip', 'openapi', 'core', 'app']);
export type ToolSource = z.infer<typeof ToolSource>;

/** How far a tool is trusted, most trusted first. The default is `inferred`. */
export const Trust = z.enum(['native', 'vendor', 'org', 'community', 'user', 'inferred']);
export type Trust = z.infer<typeof Trust>;

/** What a call may do, in ATIP's terms. Effects that a source does not declare get the dangerous value. */
export const Effects = z.strictObject({
  idempotent: z.boolean(),
  destructive: z.boolean(),
  reversible: z.boolean(),
  network: z.boolean(),
  filesystem: z.strictObject({ read: z.boolean(), write: z.boolean(), delete: z.boolean() }),
  /** Starts processes. */
  subprocess: z.boolean(),
  billable: z.boolean(),
  /** Asks a person something while it runs. */
  interactive: z.boolean(),
  /** The expected cost of one call. */
  cost_units: z.number().nonnegative().optional(),
});
export type Effects = z.infer<typeof Effects>;

export const NO_EFFECTS: Effects = {
  idempotent: true,
  destructive: false,
  reversible: true,
  network: false,
  filesystem: { read: false, write: false, delete: false },
  subprocess: false,
  billable: false,
  interactive: false,
};
/** The effects assumed for a tool that declares none. */
export const ALL_EFFECTS: Effects = {
  idempotent: false,
  destructive: true,
  reversible: false,
  network: true,
  filesystem: { read: true, write: true, delete: true },
  subprocess: true,
  billable: true,
  interactive: false,
};

/** The description of a tool that all processes share. */
export const Descriptor = z.strictObject({
  tool_id: z.string().min(1).max(512),
  name: z.string(),
  description: z.string(),
  source: ToolSource,
  /** The id of the extension, MCP server, ATIP tool, capability or pool that provides it. */
  origin: z.string(),
  runner: RunnerType,
  binding: Binding,
  input_schema: JsonObject,
  output_schema: JsonObject.optional(),
  risk: Risk,
  side_effects: z.array(SideEffect),
  effects: Effects,
  trust: Trust,
  /** Fields that the source did not declare and that were inferred, and why. */
  inferred: z.array(z.strictObject({ field: z.string(), why: z.string() })),
  timeout_ms: z.int().positive().optional(),
  /**
   * Set if the source now describes the tool differently and nobody has reviewed that yet. The descriptor keeps the old description,
   * and calls are held. `hash` is that of the new description, so that accepting one change does not accept the next.
   */
  changed: z.strictObject({ fields: z.array(z.string()), hash: z.string() }).optional(),
});
export type Descriptor = z.infer<typeof Descriptor>;

/** The queue of a tool's calls. Tools of type `app` without a pool are refused earlier. */
export const queueOf = ({ runner, binding, origin }: Descriptor): QueueName =>
  runner === 'app' ? queueOfPool(binding.kind === 'app' ? binding.pool : origin) : runner;
