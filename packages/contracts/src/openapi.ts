import { z } from 'zod';
import { Descriptor } from './descriptor.js';
import { ToolChanges } from './extension.js';
import { JsonObject } from './json.js';

const Pattern = z.string().min(1).max(200);
const Secret = z.string().regex(/^secret:\/\/[A-Za-z0-9_.-]{1,200}$/, 'expected secret://name');

/** How an OpenAPI document becomes tools. */
export const OpenApiOptions = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z][a-z0-9_.-]{0,63}$/, 'expected a-z, 0-9, dot, dash or underscore, and a letter first')
    .optional()
    .describe('Prefix of its tools, openapi:<name>:<operation>; derived from the title by default'),
  base_url: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('Overrides the servers in the document'),
  auth: z
    .record(z.string(), Secret)
    .optional()
    .describe('The secret for each security scheme of the document; `*` for all of them'),
  include: z
    .array(Pattern)
    .max(100)
    .optional()
    .describe('Only operations whose name, "METHOD /path" or tag matches, with * for any part'),
  exclude: z.array(Pattern).max(100).optional().describe('Operations to leave out, by the same patterns'),
});
export type OpenApiOptions = z.infer<typeof OpenApiOptions>;

export const NewOpenApi = OpenApiOptions.extend({
  document: JsonObject.describe('OpenAPI 3.0 or 3.1'),
  dry_run: z.boolean().optional().describe('Returns the result without storing anything'),
});
export type NewOpenApi = z.infer<typeof NewOpenApi>;

/** An OpenAPI document that was added; each of its operations is a tool. */
export const InstalledOpenApi = z.object({
  name: z.string(),
  title: z.string(),
  version: z.string(),
  base_url: z.string(),
  tools: z.array(z.string()),
  document_hash: z.string(),
  installed_by: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
});
export type InstalledOpenApi = z.infer<typeof InstalledOpenApi>;

export const AddedOpenApi = InstalledOpenApi.extend({ changes: ToolChanges, warnings: z.array(z.string()) });
export type AddedOpenApi = z.infer<typeof AddedOpenApi>;

export const OpenApiPreview = z.object({
  name: z.string(),
  base_url: z.string(),
  tools: z.array(Descriptor),
  warnings: z.array(z.string()),
});
export type OpenApiPreview = z.infer<typeof OpenApiPreview>;
