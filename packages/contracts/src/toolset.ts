import { z } from 'zod';

export const ToolsetName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, 'small letters, digits, dash and underscore, 63 at most');

const Patterns = z.array(z.string().min(1).max(512)).max(1000);

/** A named selection of tools, prompts and resources, served at /mcp/{name}. It does not extend the permissions of a key. */
export const NewToolset = z.strictObject({
  name: ToolsetName,
  title: z.string().max(256).optional(),
  description: z.string().max(4096).optional().describe('Sent to clients as the instructions of the server'),
  tools: Patterns.default(['*']).describe('Ids of tools, or patterns: mcp:files:*'),
  servers: Patterns.default([]).describe('MCP servers whose prompts and resources it includes, by name or pattern'),
  labels: z
    .record(z.string().min(1).max(255), z.string().max(1024))
    .default({})
    .describe('Added to every call made through it, so that the policy can match them'),
  names: z
    .enum(['full', 'plain'])
    .default('full')
    .describe('plain: keep the names that MCP servers gave their tools if they are unique'),
  search: z
    .boolean()
    .default(false)
    .describe('List a search tool instead of all tools; every tool can still be called by name'),
});
export type NewToolset = z.infer<typeof NewToolset>;
export type NewToolsetInput = z.input<typeof NewToolset>;

export const Toolset = NewToolset.extend({ created_at: z.iso.datetime(), updated_at: z.iso.datetime() });
export type Toolset = z.infer<typeof Toolset>;
