import { z } from 'zod';

/** What stands after `secret://`. In an environment variable it is upper case, and `-` and `.` are `_`. */
export const SecretName = z.string().regex(/^[a-z0-9][a-z0-9_.-]{0,62}$/i, 'letters, digits, dot, dash and underscore');
export type SecretName = z.infer<typeof SecretName>;

export const NewSecret = z.strictObject({ value: z.string().min(1).max(65_536) });
export type NewSecret = z.infer<typeof NewSecret>;

/** A secret as it is shown: never its value. */
export const Secret = z.object({
  name: z.string(),
  tenant: z.string(),
  /** Which of the keys it is encrypted with. */
  key_id: z.string(),
  updated_by: z.string(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export type Secret = z.infer<typeof Secret>;

export const SECRET_SCHEME = 'secret://';
