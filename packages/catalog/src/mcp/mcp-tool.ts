import { JsonObject } from '@capstan/contracts';
import { z } from 'zod';

/** The annotations of a tool, spelled as in the protocol. All are unverified hints. */
export const McpAnnotations = z.object({
  readOnlyHint: z.boolean().optional(),
  destructiveHint: z.boolean().optional(),
  idempotentHint: z.boolean().optional(),
  openWorldHint: z.boolean().optional(),
});
export type McpAnnotations = z.infer<typeof McpAnnotations>;

/** A tool as returned by `tools/list`, with only the fields used here. */
export const McpTool = z.object({
  name: z
    .string()
    .min(1)
    .max(256)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
    .regex(/^[^\u0000-\u0020\u007f]+$/, 'no blanks and no control characters'),
  title: z.string().optional(),
  description: z.string().optional(),
  inputSchema: JsonObject,
  outputSchema: JsonObject.optional(),
  annotations: McpAnnotations.optional(),
  execution: z.object({ taskSupport: z.string().optional() }).optional(),
});
export type McpTool = z.infer<typeof McpTool>;
