import { z } from 'zod';
import { Descriptor } from './descriptor.js';

/** A descriptor with its hash, and whether the tool can be called. */
export const Tool = Descriptor.extend({ descriptor_hash: z.string(), enabled: z.boolean() });
export type Tool = z.infer<typeof Tool>;

/** A source of tools, and the outcome of its last refresh. */
export const CatalogSource = z.object({
  source: z.string(),
  origin: z.string(),
  status: z.enum(['ok', 'error']),
  tools: z.int(),
  error: z.string().nullable(),
});
export type CatalogSource = z.infer<typeof CatalogSource>;
