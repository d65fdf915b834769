import { Role } from '@capstan/contracts';
import { z } from 'zod';

export type OidcSettings = {
  issuer: string;
  client_id: string;
  client_secret?: string | undefined;
  scopes: string;
  /** The roles that a group gives. */
  roles: readonly GroupRole[];
  /** The roles that a scope gives to a token. If there are none, only its groups count. */
  scope_roles?: readonly ScopeRole[] | undefined;
  tenant_claim?: string | undefined;
  actor_claim: string;
  /** Tokens for this audience are accepted as bearers everywhere; without it, only those for the MCP endpoint, there. */
  audience?: string | undefined;
};
type GroupRole = { group: string; role: Role };
type ScopeRole = { scope: string; role: Role };

/** Not `serve`: it is for keys of pool workers, which name their pool. */
const GrantedRole = Role.exclude(['serve']);
/** `name=role, name=role`; `what` says what the names are, for the error message. */
const rolesOf = (what: string) =>
  z
    .string()
    .default('')
    .transform((text, context): { name: string; role: Role }[] =>
      text
        .split(',')
        .flatMap((entry) => entry.trim() || [])
        .flatMap((entry) => {
          const [, name = '', given] = /^(.+)=([^=]+)$/.exec(entry) ?? [];
          const role = GrantedRole.safeParse(given?.trim());
          if (role.success) return [{ name: name.trim(), role: role.data }];
          const message = `${entry} is not ${what}=role; the roles are ${GrantedRole.options.join(', ')}`;
          context.addIssue({ code: 'custom', message });
          return [];
        }),
    );

export const OIDC_ENV = {
  CAPSTAN_OIDC_ISSUER: z.url({ protocol: /^https?$/ }).optional(),
  CAPSTAN_OIDC_CLIENT_ID: z.string().optional(),
  CAPSTAN_OIDC_CLIENT_SECRET: z.string().optional(),
  CAPSTAN_OIDC_SCOPES: z.string().default('openid email profile'),
  CAPSTAN_OIDC_ROLES: rolesOf('group'),
  CAPSTAN_OIDC_SCOPE_ROLES: rolesOf('scope'),
  CAPSTAN_OIDC_TENANT_CLAIM: z.string().optional(),
  CAPSTAN_OIDC_ACTOR_CLAIM: z.string().default('email'),
  CAPSTAN_OIDC_AUDIENCE: z.string().optional(),
};
const OidcEnv = z.object(OIDC_ENV);

/** Null if no identity provider is configured. */
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
    roles: env.CAPSTAN_OIDC_ROLES.map(({ name, role }) => ({ group: name, role })),
    scope_roles: env.CAPSTAN_OIDC_SCOPE_ROLES.map(({ name, role }) => ({ scope: name, role })),
    tenant_claim: env.CAPSTAN_OIDC_TENANT_CLAIM,
    actor_claim: env.CAPSTAN_OIDC_ACTOR_CLAIM,
    audience: env.CAPSTAN_OIDC_AUDIENCE,
  };
}
