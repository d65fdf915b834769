import { z } from 'zod';

/** An ATIP document that was added; each of its commands is a tool. */
export const InstalledAtipTool = z.object({
  name: z.string(),
  version: z.string(),
  description: z.string(),
  trust: z.string(),
  tools: z.array(z.string()),
  document_hash: z.string(),
  installed_by: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
});
export type InstalledAtipTool = z.infer<typeof InstalledAtipTool>;
