import { z } from 'zod';

/** The tool ids that a change of an origin added, changed or removed. */
export const ToolChanges = z.object({
  added: z.array(z.string()),
  changed: z.array(z.string()),
  removed: z.array(z.string()),
});
export type ToolChanges = z.infer<typeof ToolChanges>;

/** A folder on the gateway's machine, or the documents themselves. */
export const NewExtension = z
  .strictObject({
    path: z.string().min(1).max(4096).optional().describe('A folder on the gateway’s machine'),
    manifest: z.union([z.string(), z.record(z.string(), z.unknown())]).optional(),
    commands: z
      .union([z.string(), z.record(z.string(), z.unknown())])
      .optional()
      .describe('commands.yaml, as text or parsed'),
    usage: z.string().nullish(),
    tools: z
      .record(z.string(), z.base64())
      .optional()
      .describe('Executables and the files they read, in base64, by path in tools/'),
  })
  .refine(
    ({ path, manifest, commands }) => (path === undefined) === (manifest !== undefined && commands !== undefined),
    { message: 'expected path, or manifest and commands' },
  )
  .refine(({ path, usage, tools }) => path === undefined || (usage === undefined && tools === undefined), {
    message: 'with path, everything else is read from there',
  });
export type NewExtension = z.infer<typeof NewExtension>;

export const InstalledExtension = z.object({
  extension_id: z.string(),
  name: z.string(),
  version: z.string(),
  description: z.string(),
  enabled: z.boolean(),
  /** Its slash commands. */
  commands: z.array(z.string()),
  permissions_required: z.array(z.string()),
  /** The ids of its tools that can be called now. */
  tools: z.array(z.string()),
  tools_hash: z.string().nullable(),
  installed_by: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
});
export type InstalledExtension = z.infer<typeof InstalledExtension>;
