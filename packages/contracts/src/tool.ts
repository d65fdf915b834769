import { z } from 'zod';
import { Descriptor } from './descriptor.js';

/** A descriptor and the hash of it. */
export const Tool = Descriptor.extend({ descriptor_hash: z.string() });
export type Tool = z.infer<typeof Tool>;

/** Where tools came from at the last look, and how that went. */
export const CatalogSource = z.object({
  source: z.string(),
  origin: z.string(),
  status: z.enum(['ok', 'error']),
  tools: z.int(),
  error: z.string().nullable(),
});
export type CatalogSource = z.infer<typeof CatalogSource>;
