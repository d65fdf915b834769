import { z } from 'zod';
import { JsonObject } from './json.js';
import { RunnerType } from './runner-type.js';

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

export const ToolSource = z.enum(['capability', 'extension', 'mcp', 'atip', 'core']);
export type ToolSource = z.infer<typeof ToolSource>;

/** A tool, as every process knows it. */
export const Descriptor = z.strictObject({
  tool_id: z.string().min(1).max(512),
  name: z.string(),
  description: z.string(),
  source: ToolSource,
  runner: RunnerType,
  input_schema: JsonObject,
  risk: Risk,
  side_effects: z.array(SideEffect),
  effects: z.strictObject({
    idempotent: z.boolean(),
    destructive: z.boolean(),
    reversible: z.boolean(),
    network: z.boolean(),
  }),
  timeout_ms: z.int().positive().optional(),
});
export type Descriptor = z.infer<typeof Descriptor>;
