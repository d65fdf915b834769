import { z } from 'zod';
import { Invocation } from './invocation.js';
import type { Json } from './json.js';
import { ProviderCall, ProviderName } from './provider.js';

const AnyJson = z.custom<Json>((value) => value !== undefined, 'is required');

/** A model's answer as it came: a body, an array of chunks or events, or the text of a stream (SSE or JSON lines). */
export const ToolCallRequest = z.strictObject({
  provider: ProviderName,
  response: AnyJson,
  agent_id: z.string().max(64).optional(),
  session_id: z.string().min(1).max(255).optional(),
  /** The same key again answers the same invocations, one for each place among the calls. */
  idempotency_key: z.string().min(1).max(200).optional(),
});
export type ToolCallRequest = z.infer<typeof ToolCallRequest>;
export type ToolCallRequestInput = z.input<typeof ToolCallRequest>;

/** What became of one call. */
export const ToolCallOutcome = ProviderCall.extend({
  tool_id: z.string().nullable(),
  invocation_id: z.string().nullable(),
  /** The invocation's status; `refused` when there is none, `provider` when it is not ours to run. */
  status: z.string(),
  error: z.string().nullable(),
  /** What was left out of the arguments, and why. */
  warnings: z.array(z.string()),
});
export type ToolCallOutcome = z.infer<typeof ToolCallOutcome>;

export const ToolCallAnswer = z.object({
  calls: z.array(ToolCallOutcome),
  invocations: z.array(Invocation),
  /** To append, in the provider's own format, after the model's own message. Empty when nothing was waited for. */
  messages: z.array(AnyJson),
});
export type ToolCallAnswer = z.infer<typeof ToolCallAnswer>;
