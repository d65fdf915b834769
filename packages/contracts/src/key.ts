import { z } from 'zod';
import type { Identity, Via } from './login.js';
import { Pool } from './runner-type.js';

export const Role = z.enum(['submit', 'operate', 'audit', 'admin', 'scale', 'serve']);
export type Role = z.infer<typeof Role>;

export const DEFAULT_TENANT = 'default';
const Slug = z.string().regex(/^[a-z0-9][a-z0-9_.-]{0,62}$/i, 'letters, digits, dot, dash and underscore');

/** A name, which may be an email address. */
export const Actor = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_.@+:-]{0,254}$/i, 'must be letters, digits and any of . - _ @ + :');

export const Tenant = Slug;

/** A key with the role `serve` serves one pool and can do nothing else. */
export const NewKey = z
  .strictObject({ tenant: Tenant, actor: Actor, roles: z.array(Role).min(1), pool: Pool.optional() })
  .refine(({ roles }) => !roles.includes('serve') || roles.every((role) => role === 'serve'), {
    path: ['roles'],
    message: 'a key with the role serve cannot have other roles',
  })
  .refine(({ roles, pool }) => roles.includes('serve') === (pool !== undefined), {
    path: ['pool'],
    message: 'is required for a key with the role serve, and not allowed otherwise',
  });
export type NewKey = z.infer<typeof NewKey>;

export const Key = z.object({
  key_id: z.string(),
  tenant: z.string(),
  actor: z.string(),
  roles: z.array(Role),
  pool: Pool.nullish().describe('The pool that it serves'),
  created_at: z.iso.datetime(),
});
export type Key = z.infer<typeof Key>;

/** The caller. `key_id` is empty for a login through the identity provider. */
export type Principal = Pick<Key, 'key_id' | 'tenant' | 'actor' | 'roles' | 'pool'> & {
  /** How the caller authenticated; by default with a key. */
  via?: Via;
  /** When the authentication expires; absent for a key. */
  expires_at?: string;
  identity?: Identity;
  /** Roles of the account that are outside of the scope of its token. */
  out_of_scope?: Role[];
};

/** An admin may do everything. */
export const hasRole = (principal: Principal, ...anyOf: Role[]): boolean =>
  principal.roles.includes('admin') || anyOf.some((role) => principal.roles.includes(role));
