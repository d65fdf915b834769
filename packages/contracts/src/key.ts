import { z } from 'zod';
import type { Identity, Via } from './login.js';
import { Pool } from './runner-type.js';

export const Role = z.enum(['submit', 'operate', 'audit', 'admin', 'scale', 'serve']);
export type Role = z.infer<typeof Role>;

export const DEFAULT_TENANT = 'default';
const Slug = z.string().regex(/^[a-z0-9][a-z0-9_.-]{0,62}$/i, 'letters, digits, dot, dash and underscore');

/** Also an address, as people are known by. */
const Actor = z.string().regex(/^[a-z0-9][a-z0-9_.@+:-]{0,254}$/i, 'letters, digits and any of . - _ @ + :');

export const Tenant = Slug;

/** Whoever has the role `serve` serves one pool, and may do nothing else. */
export const NewKey = z
  .strictObject({ tenant: Tenant, actor: Actor, roles: z.array(Role).min(1), pool: Pool.optional() })
  .refine(({ roles }) => !roles.includes('serve') || roles.every((role) => role === 'serve'), {
    path: ['roles'],
    message: 'a key with the role serve has no other',
  })
  .refine(({ roles, pool }) => roles.includes('serve') === (pool !== undefined), {
    path: ['pool'],
    message: 'a key with the role serve, and no other, names its pool',
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

/** Who is asking. `key_id` is empty for those who came through the identity provider. */
export type Principal = Pick<Key, 'key_id' | 'tenant' | 'actor' | 'roles' | 'pool'> & {
  /** How they proved it; a key unless said otherwise. */
  via?: Via;
  /** When that proof ends; absent for a key. */
  expires_at?: string;
  identity?: Identity;
};

/** An admin may do everything. */
export const hasRole = (principal: Principal, ...anyOf: Role[]): boolean =>
  principal.roles.includes('admin') || anyOf.some((role) => principal.roles.includes(role));
