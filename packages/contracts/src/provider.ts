import { z } from 'zod';
import type { Json } from './json.js';

/**
 * Whose format a model speaks. `openai` is Chat Completions in what we write; in what we read, a body of the Responses
 * API is known by its shape, so `openai` reads both.
 */
export const Provider = z.enum(['openai', 'openai_responses', 'anthropic', 'gemini']);
export type Provider = z.infer<typeof Provider>;

/** As a person may write it. */
export const ProviderName = z.preprocess((name) => (name === 'google' ? 'gemini' : name), Provider);

/** What a model asked for, as it asked for it. */
export const ProviderCall = z.object({
  /** The provider's own id, of the type it has there; Gemini may send none. */
  id: z.union([z.string(), z.number()]).nullable(),
  name: z.string(),
  arguments: z.custom<Json>((value) => value !== undefined),
  /** The kind of the item that held it, which says how it is answered. */
  kind: z.string(),
  /** Null when the arguments could be read; else why not, in words for the model. */
  problem: z.string().nullable(),
  /** The provider carries it out itself: it is shown, and neither run nor answered here. */
  by_provider: z.boolean(),
  /** The call that held it, where a model put several into one (`multi_tool_use.parallel`): they share its id and its answer. */
  via: z.string().optional(),
});
export type ProviderCall = z.infer<typeof ProviderCall>;
