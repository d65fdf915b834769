import { z } from 'zod';

/** The name after `secret://`. */
export const SecretName = z.string().regex(/^[a-z0-9][a-z0-9_.-]{0,62}$/i, 'letters, digits, dot, dash and underscore');
export type SecretName = z.infer<typeof SecretName>;

const Names = z.array(z.string().min(1).max(255)).max(100);

/** Where a secret may be used. Null means every tool or host; a list means only those. */
const SecretUse = {
  tools: Names.nullable().describe('Tool ids; * stands for any characters'),
  hosts: Names.nullable().describe('Hosts it may be sent to: example.com, or *.example.com with all below it'),
};

/** Omitted lists stay unchanged, so that a new value never widens access. */
export const NewSecret = z.strictObject({
  value: z.string().min(1).max(65_536),
  tools: SecretUse.tools.optional(),
  hosts: SecretUse.hosts.optional(),
});
export type NewSecret = z.infer<typeof NewSecret>;

/** A secret as shown, without its value. */
export const Secret = z.object({
  name: z.string(),
  tenant: z.string(),
  /** The key it is encrypted with. */
  key_id: z.string(),
  ...SecretUse,
  updated_by: z.string(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export type Secret = z.infer<typeof Secret>;

export const SECRET_SCHEME = 'secret://';
