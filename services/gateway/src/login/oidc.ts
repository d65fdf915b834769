import { DEFAULT_TENANT, Failure, NewKey, type Principal } from '@capstan/contracts';
import { bindIdentity, type Store } from '@capstan/store';
import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import * as client from 'openid-client';
import type { OidcSettings } from './oidc-settings.js';

/** What the browser keeps while it is at the provider. */
export type PendingLogin = { state: string; nonce: string; verifier: string; next: string };

export type Oidc = {
  name: string;
  /** Where to send the browser, and what it has to bring back. */
  begin(redirect_uri: string, next: string): Promise<{ url: URL; pending: PendingLogin }>;
  /** Who came back to `url`. */
  finish(url: URL, pending: PendingLogin): Promise<Principal>;
  /** Who sent an access token; null where tokens are not accepted. */
  byToken: ((token: string) => Promise<Principal>) | null;
};

/** Public-key signatures only: nobody can forge a token with the client's secret. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];
const CLOCK_TOLERANCE_S = 30;
const TIMEOUT_S = 10;
const GROUPS = 'groups';

export function createOidc(store: Store, settings: OidcSettings): Oidc {
  const issuer = new URL(settings.issuer);
  let discovered: Promise<{ config: client.Configuration; keys: JWTVerifyGetKey }> | null = null;
  /** On first use, and again after a failure: a gateway starts without its provider. */
  const provider = () => {
    discovered ??= discover(issuer, settings).catch((cause: unknown) => {
      discovered = null;
      throw unreachable(cause);
    });
    return discovered;
  };

  const byToken = async (token: string, audience: string): Promise<Principal> => {
    const { config, keys } = await provider();
    const { payload } = await jwtVerify(token, keys, {
      issuer: config.serverMetadata().issuer,
      audience,
      algorithms: ALGORITHMS,
      requiredClaims: ['sub', 'exp'],
      clockTolerance: CLOCK_TOLERANCE_S,
    }).catch((cause: unknown) => {
      if (!(cause instanceof errors.JOSEError) || cause instanceof errors.JWKSTimeout) throw unreachable(cause);
      throw refused(`The token is refused: ${cause.message}.`, cause);
    });
    const expires_at = new Date((payload.exp ?? 0) * 1000).toISOString();
    return { ...(await toPrincipal(store, settings, payload)), via: 'jwt', expires_at };
  };

  const { audience } = settings;
  return {
    name: issuer.hostname,
    begin: async (redirect_uri, next) => {
      const { config } = await provider();
      const state = client.randomState();
      const nonce = client.randomNonce();
      const verifier = client.randomPKCECodeVerifier();
      const url = client.buildAuthorizationUrl(config, {
        redirect_uri,
        scope: settings.scopes,
        state,
        nonce,
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      });
      return { url, pending: { state, nonce, verifier, next } };
    },
    finish: async (url, { state, nonce, verifier }) => {
      const { config } = await provider();
      const tokens = await client
        .authorizationCodeGrant(config, url, {
          pkceCodeVerifier: verifier,
          expectedState: state,
          expectedNonce: nonce,
          idTokenExpected: true,
        })
        .catch((cause: unknown) => {
          throw refused('The identity provider did not confirm the login.', cause);
        });
      const claims = tokens.claims();
      if (!claims) throw refused('The identity provider sent no ID token.');
      // Many providers leave groups and addresses out of the ID token.
      const complete = GROUPS in claims && settings.actor_claim in claims;
      const more =
        complete || config.serverMetadata().userinfo_endpoint === undefined
          ? {}
          : await client.fetchUserInfo(config, tokens.access_token, claims.sub).catch((cause: unknown) => {
              throw unreachable(cause);
            });
      return toPrincipal(store, settings, { ...more, ...claims });
    },
    byToken: audience === undefined ? null : (token) => byToken(token, audience),
  };
}

async function discover(issuer: URL, { client_id, client_secret }: OidcSettings) {
  const config = await client.discovery(issuer, client_id, client_secret, undefined, {
    timeout: TIMEOUT_S,
    // Over plain HTTP only where the operator wrote it so.
    execute: issuer.protocol === 'http:' ? [client.allowInsecureRequests] : [],
  });
  const { jwks_uri } = config.serverMetadata();
  if (jwks_uri === undefined) throw new Error('The identity provider publishes no keys.');
  return { config, keys: createRemoteJWKSet(new URL(jwks_uri)) };
}

async function toPrincipal(store: Store, settings: OidcSettings, claims: JWTPayload): Promise<Principal> {
  const { iss, sub } = claims;
  if (typeof iss !== 'string' || typeof sub !== 'string') throw refused('The token does not say whose it is.');
  const roles = rolesOf(settings, claims[GROUPS]);
  if (roles.length === 0)
    throw new Failure('ROLE_MISSING', {
      detail: `No group of the account ${sub} has a role here.`,
      suggestion: 'Ask an admin to add a group of yours to CAPSTAN_OIDC_ROLES, or to add you to a group listed there.',
    });
  const { actor_claim, tenant_claim } = settings;
  if (actor_claim === 'email' && claims.email_verified === false)
    throw refused('The email address of this account is not verified.');
  const who = NewKey.safeParse({
    tenant: tenant_claim === undefined ? DEFAULT_TENANT : claims[tenant_claim],
    // Machines have no address.
    actor: claims[actor_claim] ?? sub,
    roles,
  });
  if (!who.success) {
    const claim = who.error.issues[0]?.path[0] === 'tenant' ? tenant_claim : actor_claim;
    throw refused(`The claim ${claim} of the token is missing, or is not a name that can be used here.`);
  }
  const { tenant } = who.data;
  const actor = await bindIdentity(store, { tenant, actor: who.data.actor, iss, sub });
  if (actor === null) throw refused(`The name ${who.data.actor} belongs to another account of the identity provider.`);
  return { key_id: '', tenant, actor, roles, identity: { iss, sub } };
}

function rolesOf({ roles }: OidcSettings, claim: unknown) {
  const groups: unknown[] = Array.isArray(claim) ? claim : [claim];
  return [...new Set(roles.filter(({ group }) => groups.includes(group)).map(({ role }) => role))];
}

const refused = (detail: string, cause?: unknown) =>
  new Failure('UNAUTHENTICATED', {
    detail,
    suggestion: 'Log in again, or ask whoever runs the identity provider.',
    cause,
    headers: { 'www-authenticate': 'Bearer realm="capstan", error="invalid_token"' },
  });

const unreachable = (cause: unknown) =>
  new Failure('EGRESS_FAILED', {
    detail: 'The identity provider could not be reached, or its answer could not be used.',
    suggestion: 'Try again, log in with a key, or check CAPSTAN_OIDC_ISSUER.',
    cause,
  });
