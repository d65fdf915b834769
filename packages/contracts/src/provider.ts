import { z } from 'zod';
import type { Json } from './json.js';

/**
 * The format of a model provider. For output, `openai` is Chat Completions. For input, it also accepts the Responses API, which is
 * recognized by its structure.
 */
export const Provider = z.enum(['openai', 'openai_responses', 'anthropic', 'gemini']);
export type Provider = z.infer<typeof Provider>;

/** The names that people may use. */
export const ProviderName = z.preprocess((name) => (name === 'google' ? 'gemini' : name), Provider);

/** A tool call as the model requested it. */
export const ProviderCall = z.object({
  /** The provider's own id, in its original type. Gemini may send none. */
  id: z.union([z.string(), z.number()]).nullable(),
  name: z.string(),
  arguments: z.custom<Json>((value) => value !== undefined),
  /** The kind of item that contained the call, which determines the format of the result. */
  kind: z.string(),
  /** Why the arguments could not be parsed, for the model; null if they could. */
  problem: z.string().nullable(),
  /** True if the provider executes the call itself. It is only shown here. */
  by_provider: z.boolean(),
  /** The enclosing call, if a model put several into one (`multi_tool_use.parallel`). They share its id and its result. */
  via: z.string().optional(),
});
export type ProviderCall = z.infer<typeof ProviderCall>;
