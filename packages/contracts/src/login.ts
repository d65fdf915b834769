import { z } from 'zod';
import { Role } from './key.js';

/** How a request was authenticated: by an API key, the cookie of a login, or a token of the identity provider. */
export const Via = z.enum(['key', 'session', 'jwt']);
export type Via = z.infer<typeof Via>;

/** A person or machine at the identity provider. Unlike a display name, these two are never reassigned. */
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

/** A login to the console. */
export const ActiveLogin = z.object({
  login_id: z.string(),
  tenant: z.string(),
  actor: z.string(),
  roles: z.array(Role),
  key_id: z.string().nullable().describe('The key of the login; null for a login through the identity provider'),
  identity: Identity.nullable(),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
  current: z.boolean().describe('Whether it is the caller’s own login'),
});
export type ActiveLogin = z.infer<typeof ActiveLogin>;

export const LoginOptions = z.object({
  key: z.boolean(),
  oidc: z.object({ name: z.string() }).nullable().describe('Null if no identity provider is configured'),
});
export type LoginOptions = z.infer<typeof LoginOptions>;
