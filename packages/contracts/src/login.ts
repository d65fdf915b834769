import { z } from 'zod';
import { Role } from './key.js';

/** How a request proved who sent it: an API key, the cookie of a login, or a token of the identity provider. */
export const Via = z.enum(['key', 'session', 'jwt']);
export type Via = z.infer<typeof Via>;

/** A person or machine as the identity provider knows them; a display name may change hands, these two never do. */
export const Identity = z.object({ iss: z.string(), sub: z.string() });
export type Identity = z.infer<typeof Identity>;

export const Whoami = z.object({
  tenant: z.string(),
  actor: z.string(),
  roles: z.array(Role),
  via: Via,
  expires_at: z.iso.datetime().nullable().describe('Null for a key, which lasts until it is deleted'),
});
export type Whoami = z.infer<typeof Whoami>;

export const Login = z.strictObject({ key: z.string().min(1).max(1024) });
export type Login = z.infer<typeof Login>;

export const LoginOptions = z.object({
  key: z.boolean(),
  oidc: z.object({ name: z.string() }).nullable().describe('Null where no identity provider is configured'),
});
export type LoginOptions = z.infer<typeof LoginOptions>;
