import { z } from 'zod';
import { Invocation } from './invocation.js';
import type { Json } from './json.js';
import { ProviderCall, ProviderName } from './provider.js';

const AnyJson = z.custom<Json>((value) => value !== undefined, 'is required');

/** The unchanged response of a model: a body, an array of chunks or events, or the text of a stream (SSE or JSON lines). */
export const ToolCallRequest = z.strictObject({
  provider: ProviderName,
  response: AnyJson.describe("The model's response, unchanged: a body, its chunks or events, or the text of a stream"),
  agent_id: z.string().max(64).optional().describe('The agent whose tools the model was given; by default all tools'),
  session_id: z.string().min(1).max(255).optional().describe('The session of the calls'),
  idempotency_key: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe('A repeated key returns the same invocations, one for each position among the calls'),
});
export type ToolCallRequest = z.infer<typeof ToolCallRequest>;
export type ToolCallRequestInput = z.input<typeof ToolCallRequest>;

/** The outcome of one call. */
export const ToolCallOutcome = ProviderCall.extend({
  tool_id: z.string().nullable(),
  invocation_id: z.string().nullable(),
  /** The status of the invocation; `refused` if there is none, `provider` if the provider executes the call. */
  status: z.string(),
  error: z.string().nullable(),
  /** Arguments that were left out, and why. */
  warnings: z.array(z.string()),
});
export type ToolCallOutcome = z.infer<typeof ToolCallOutcome>;

export const ToolCallAnswer = z.object({
  calls: z.array(ToolCallOutcome),
  invocations: z.array(Invocation),
  /** Messages to append after the model's own, in the provider's format. Empty if the request did not wait. */
  messages: z.array(AnyJson),
});
export type ToolCallAnswer = z.infer<typeof ToolCallAnswer>;
