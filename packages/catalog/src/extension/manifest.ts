import { z } from 'zod';

/** The permissions that open something in the sandbox of an extension. */
export const PERMISSIONS = ['exec', 'network', 'filesystem.read', 'filesystem.write', 'browser'] as const;
export type Permission = (typeof PERMISSIONS)[number];

export const EXTENSION_ID = /^[a-z0-9][a-z0-9._-]{0,63}$/i;
const Text = z.string().max(2000);

/** `manifest.json`. The fields below the line are from AgentOS: they are accepted and ignored. */
export const Manifest = z.strictObject({
  id: z.string().regex(EXTENSION_ID, 'letters, digits, dot, dash and underscore, up to 64'),
  name: z.string().min(1).max(200),
  version: z.string().min(1).max(50),
  description: Text.default(''),
  capabilities: z
    .array(z.looseObject({ type: z.string().optional(), name: z.string().optional(), description: Text.optional() }))
    .default([]),
  permissions_required: z.array(z.string().regex(/^[\w.:-]{1,64}$/, 'not the name of a permission')).default([]),
  // ----
  author: z.unknown().optional(),
  license: z.string().nullish(),
  homepage: z.string().nullish(),
  repository: z.unknown().optional(),
  entrypoint: z.string().nullish(),
  icon: z.string().nullish(),
  platforms: z.array(z.string()).nullish(),
  install: z.unknown().optional(),
  docs: z.unknown().optional(),
  tags: z.array(z.string()).nullish(),
  metadata: z.unknown().optional(),
  $schema: z.string().optional(),
});
export type Manifest = z.infer<typeof Manifest>;
