import { Role } from '@capstan/contracts';
import { z } from 'zod';

export type OidcSettings = {
  issuer: string;
  client_id: string;
  client_secret?: string | undefined;
  scopes: string;
  /** The roles that a group gives. */
  roles: readonly GroupRole[];
  tenant_claim?: string | undefined;
  actor_claim: string;
  /** Tokens for this audience are accepted as bearers; none are without it. */
  audience?: string | undefined;
};
type GroupRole = { group: string; role: Role };

/** `serve` is for workers, and each of their keys names its pool. */
const GrantedRole = Role.exclude(['serve']);
const GroupRoles = z
  .string()
  .default('')
  .transform((text, context): GroupRole[] =>
    text
      .split(',')
      .flatMap((entry) => entry.trim() || [])
      .flatMap((entry) => {
        const [, group = '', name] = /^(.+)=([^=]+)$/.exec(entry) ?? [];
        const role = GrantedRole.safeParse(name?.trim());
        if (role.success) return [{ group: group.trim(), role: role.data }];
        const message = `${entry} is not group=role; the roles are ${GrantedRole.options.join(', ')}`;
        context.addIssue({ code: 'custom', message });
        return [];
      }),
  );

export const OIDC_ENV = {
  CAPSTAN_OIDC_ISSUER: z.url({ protocol: /^https?$/ }).optional(),
  CAPSTAN_OIDC_CLIENT_ID: z.string().optional(),
  CAPSTAN_OIDC_CLIENT_SECRET: z.string().optional(),
  CAPSTAN_OIDC_SCOPES: z.string().default('openid email profile'),
  CAPSTAN_OIDC_ROLES: GroupRoles,
  CAPSTAN_OIDC_TENANT_CLAIM: z.string().optional(),
  CAPSTAN_OIDC_ACTOR_CLAIM: z.string().default('email'),
  CAPSTAN_OIDC_AUDIENCE: z.string().optional(),
};
const OidcEnv = z.object(OIDC_ENV);

/** Null where no identity provider is configured. */
export function oidcSettings(env: z.infer<typeof OidcEnv>): OidcSettings | null {
  const { CAPSTAN_OIDC_ISSUER: issuer, CAPSTAN_OIDC_CLIENT_ID: client_id } = env;
  if (issuer === undefined) return null;
  if (client_id === undefined)
    throw new Error('CAPSTAN_OIDC_ISSUER is set and CAPSTAN_OIDC_CLIENT_ID is not: set both or neither.');
  return {
    issuer,
    client_id,
    client_secret: env.CAPSTAN_OIDC_CLIENT_SECRET,
    scopes: env.CAPSTAN_OIDC_SCOPES,
    roles: env.CAPSTAN_OIDC_ROLES,
    tenant_claim: env.CAPSTAN_OIDC_TENANT_CLAIM,
    actor_claim: env.CAPSTAN_OIDC_ACTOR_CLAIM,
    audience: env.CAPSTAN_OIDC_AUDIENCE,
  };
}
