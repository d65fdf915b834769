import { z } from 'zod';
import { CapabilityRef } from './capability.js';
import type { Json } from './json.js';
import { JsonObject } from './json.js';
import { Provider } from './provider.js';

const Pattern = z.string().min(1).max(512);
const Patterns = z.array(Pattern).max(256);

const fields = {
  name: z.string().trim().min(1).max(128),
  description: z.string().max(4096),
  /** Follows the prompts of the capabilities. */
  system_prompt: z.string().max(262_144),
  /** In order: the prompt of an earlier one comes first, and its tools get the short names. */
  capabilities: z
    .array(CapabilityRef)
    .max(64)
    .refine((refs) => new Set(refs.map(capabilityId)).size === refs.length, 'a capability is named twice'),
  /** Further tools it may call, by id or by a glob such as `atip:gh:*`. */
  tools: Patterns,
  /** Tools it may not call, whatever their source. */
  deny_tools: Patterns,
  /** By capability id. */
  config: z.record(z.string(), JsonObject),
  status: z.enum(['active', 'disabled']),
};

export const NewAgent = z.strictObject({
  name: fields.name,
  description: fields.description.default(''),
  system_prompt: fields.system_prompt.default(''),
  capabilities: fields.capabilities.default([]),
  tools: fields.tools.default([]),
  deny_tools: fields.deny_tools.default([]),
  config: fields.config.default({}),
  status: fields.status.default('active'),
});
export type NewAgent = z.infer<typeof NewAgent>;
export type NewAgentInput = z.input<typeof NewAgent>;

export const AgentChange = z
  .strictObject(fields)
  .partial()
  .refine((change) => Object.keys(change).length > 0, 'at least one field must be given');
export type AgentChange = z.infer<typeof AgentChange>;

export const Agent = z.object({
  agent_id: z.string(),
  id: z.string().describe('The same as agent_id'),
  ...fields,
  /** Increases with every change. */
  version: z.int(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export type Agent = z.infer<typeof Agent>;

/** An agent prepared for a provider: the system prompt and the tools to send. */
export const AgentRuntime = z.object({
  agent_id: z.string(),
  provider: Provider,
  system_prompt: z.string(),
  tools: z.array(z.custom<Json>((value) => value !== undefined)),
  /** The tool behind each name that the model sees. */
  names: z.record(z.string(), z.string()),
  /** All capabilities including dependencies, in the order of the prompt. */
  capabilities: z.array(z.object({ id: z.string(), version: z.string() })),
  /** Tools that no source provides at the moment. */
  missing_tools: z.array(z.string()),
  warnings: z.array(z.string()),
});
export type AgentRuntime = z.infer<typeof AgentRuntime>;

export const capabilityId = (ref: string): string => ref.split('@', 1)[0] ?? ref;
