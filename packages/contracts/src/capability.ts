import { z } from 'zod';
import { JsonObject } from './json.js';

export const CapabilityStatus = z.enum(['available', 'coming_soon', 'deprecated']);
export type CapabilityStatus = z.infer<typeof CapabilityStatus>;

const Id = z.string().regex(/^[a-z][a-z0-9_]{0,62}$/, 'lower-case letters, digits and underscores');
const Version = z.string().regex(/^\d{1,9}\.\d{1,9}\.\d{1,9}$/, 'three numbers, such as 1.0.0');
/** `research`, `research@1` for any version 1, or `research@1.2` for any version 1 from 1.2 on. */
export const CapabilityRef = z
  .string()
  .regex(/^[a-z][a-z0-9_]{0,62}(@\d{1,9}(\.\d{1,9}){0,2})?$/, 'the id of a capability, and @version if one is needed');
export type CapabilityRef = z.infer<typeof CapabilityRef>;

/** A reusable part of an agent: an addition to its prompt, and tools. */
export const Capability = z.strictObject({
  id: Id,
  name: z.string().min(1).max(128),
  description: z.string().max(4096).default(''),
  version: Version.default('1.0.0'),
  status: CapabilityStatus.default('available'),
  icon: z.string().max(64).nullable().default(null),
  category: z.string().max(64).nullable().default(null),
  /** Precedes the agent's own prompt. `{{config.name}}` inserts a value of the agent's configuration. */
  system_prompt_addition: z.string().max(65_536).nullable().default(null),
  /** Ids of tools, of any source. */
  tools: z.array(z.string().min(1).max(512)).max(256).default([]),
  depends_on: z.array(CapabilityRef).max(64).default([]),
  /** What an agent may configure. A member with the name of a tool input is the default of that input. */
  config_schema: JsonObject.nullable().default(null),
});
export type Capability = z.infer<typeof Capability>;

/** The file that CAPSTAN_CAPABILITIES_FILE names. */
export const CapabilityFile = z.strictObject({ capabilities: z.array(Capability).max(1000) });
export type CapabilityFile = z.infer<typeof CapabilityFile>;
