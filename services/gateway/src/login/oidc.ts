import { DEFAULT_TENANT, Failure, NewKey, type Principal, type Role } from '@capstan/contracts';
import type { Store } from '@capstan/store';
import { bindIdentity } from '@capstan/store/login';
import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import * as client from 'openid-client';
import { z } from 'zod';
import type { OidcSettings } from './oidc-settings.js';

/** The contents of the cookie while the browser is at the provider. */
export type PendingLogin = { state: string; nonce: string; verifier: string; next: string };

export type Oidc = {
  name: string;
  issuer: string;
  /** The audience that tokens must have on routes that name no further audiences. */
  audience: string | undefined;
  /** The scopes that give one of these roles; empty if scopes give no roles. */
  scopesFor(roles: readonly Role[]): string[];
  /** The URL to redirect the browser to, and the state that it has to bring back. */
  begin(redirect_uri: string, next: string): Promise<{ url: URL; pending: PendingLogin }>;
  /** The principal of the browser that came back to `url`. */
  finish(url: URL, pending: PendingLogin): Promise<Principal>;
  /** The principal of an access token for one of these audiences. */
  byToken(token: string, audiences: readonly string[]): Promise<Principal>;
};

/** Public-key signatures only: nobody can forge a token with the client's secret. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];
const CLOCK_TOLERANCE_S = 30;
const TIMEOUT_S = 10;
const GROUPS = 'groups';

export function createOidc(store: Store, settings: OidcSettings): Oidc {
  const issuer = new URL(settings.issuer);
  let discovered: Promise<{ config: client.Configuration; keys: JWTVerifyGetKey }> | null = null;
  /** Discovered on first use and again after a failure, so that a gateway can start while its provider is down. */
  const provider = () => {
    discovered ??= discover(issuer, settings).catch((cause: unknown) => {
      discovered = null;
      throw unreachable(cause);
    });
    return discovered;
  };

  const byToken = async (token: string, audiences: readonly string[]): Promise<Principal> => {
    const { config, keys } = await provider();
    const { payload } = await jwtVerify(token, keys, {
      issuer: config.serverMetadata().issuer,
      audience: [...audiences],
      algorithms: ALGORITHMS,
      requiredClaims: ['sub', 'exp'],
      clockTolerance: CLOCK_TOLERANCE_S,
    }).catch((cause: unknown) => {
      if (!(cause instanceof errors.JOSEError) || cause instanceof errors.JWKSTimeout) throw unreachable(cause);
      throw refused(`The token is refused: ${cause.message}.`, cause);
    });
    const expires_at = new Date((payload.exp ?? 0) * 1000).toISOString();
    return { ...(await toPrincipal(store, settings, payload, true)), via: 'jwt', expires_at };
  };

  const { audience, scope_roles = [] } = settings;
  return {
    name: issuer.hostname,
    issuer: settings.issuer,
    audience,
    scopesFor: (roles) => [
      ...new Set(scope_roles.filter(({ role }) => roles.includes(role)).map(({ scope }) => scope)),
    ],
    begin: async (redirect_uri, next) => beginLogin((await provider()).config, settings.scopes, redirect_uri, next),
    finish: async (url, pending) => {
      const { config } = await provider();
      return toPrincipal(store, settings, await confirmedClaims(config, settings, url, pending));
    },
    byToken,
  };
}

async function beginLogin(config: client.Configuration, scope: string, redirect_uri: string, next: string) {
  const state = client.randomState();
  const nonce = client.randomNonce();
  const verifier = client.randomPKCECodeVerifier();
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri,
    scope,
    state,
    nonce,
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  });
  return { url, pending: { state, nonce, verifier, next } };
}

/** Exchanges the code in `url` for the claims of the account. */
async function confirmedClaims(
  config: client.Configuration,
  { actor_claim }: OidcSettings,
  url: URL,
  { state, nonce, verifier }: PendingLogin,
): Promise<JWTPayload> {
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
  // Many providers leave groups and email addresses out of the ID token.
  const is_complete = GROUPS in claims && actor_claim in claims;
  if (is_complete || config.serverMetadata().userinfo_endpoint === undefined) return { ...claims };
  const more = await client.fetchUserInfo(config, tokens.access_token, claims.sub).catch((cause: unknown) => {
    throw unreachable(cause);
  });
  return { ...more, ...claims };
}

async function discover(issuer: URL, { client_id, client_secret }: OidcSettings) {
  const config = await client.discovery(issuer, client_id, client_secret, undefined, {
    timeout: TIMEOUT_S,
    // Plain HTTP only if the operator configured it.
    execute: issuer.protocol === 'http:' ? [client.allowInsecureRequests] : [],
  });
  const { jwks_uri } = config.serverMetadata();
  if (jwks_uri === undefined) throw new Error('The identity provider publishes no keys.');
  return { config, keys: createRemoteJWKSet(new URL(jwks_uri)) };
}

const Who = z.object({ tenant: NewKey.shape.tenant, actor: NewKey.shape.actor });

async function toPrincipal(
  store: Store,
  settings: OidcSettings,
  claims: JWTPayload,
  is_token = false,
): Promise<Principal> {
  const { iss, sub } = claims;
  if (typeof iss !== 'string' || typeof sub !== 'string')
    throw refused('The token has no iss or no sub, so it does not say whose it is.');
  const { roles, out_of_scope } = is_token
    ? rolesOfToken(settings, claims)
    : { roles: rolesOf(settings, claims[GROUPS]) };
  if (roles.length === 0 && !out_of_scope?.length)
    throw new Failure('ROLE_MISSING', {
      detail: `No group of the account ${sub} has a role here.`,
      suggestion: 'Ask an admin to add a group of yours to CAPSTAN_OIDC_ROLES, or to add you to a group listed there.',
    });
  const { actor_claim, tenant_claim } = settings;
  if (actor_claim === 'email' && claims.email_verified === false)
    throw refused('The email address of this account is not verified.');
  const who = Who.safeParse({
    tenant: tenant_claim === undefined ? DEFAULT_TENANT : claims[tenant_claim],
    // Service accounts have no email address.
    actor: claims[actor_claim] ?? sub,
  });
  if (!who.success) {
    const claim = who.error.issues[0]?.path[0] === 'tenant' ? tenant_claim : actor_claim;
    throw refused(`The claim ${claim} of the token is missing, or is not a name that can be used here.`);
  }
  const { tenant } = who.data;
  const actor = await bindIdentity(store, { tenant, actor: who.data.actor, iss, sub });
  if (actor === null) throw refused(`The name ${who.data.actor} belongs to another account of the identity provider.`);
  return { key_id: '', tenant, actor, roles, identity: { iss, sub }, ...(out_of_scope ? { out_of_scope } : {}) };
}

function rolesOf({ roles }: OidcSettings, claim: unknown) {
  const groups: unknown[] = Array.isArray(claim) ? claim : [claim];
  return [...new Set(roles.filter(({ group }) => groups.includes(group)).map(({ role }) => role))];
}

/**
 * If scopes give roles, a token gets the roles of its scopes. If it also names groups, it gets only those that its groups have, so
 * that a client never gets more rights than the person it acts for.
 */
function rolesOfToken(settings: OidcSettings, claims: JWTPayload): { roles: Role[]; out_of_scope?: Role[] } {
  const { scope_roles = [] } = settings;
  const ofGroups = rolesOf(settings, claims[GROUPS]);
  if (scope_roles.length === 0) return { roles: ofGroups };
  const scopes: unknown[] = typeof claims.scope === 'string' ? claims.scope.split(' ') : [];
  const ofScopes = new Set(scope_roles.filter(({ scope }) => scopes.includes(scope)).map(({ role }) => role));
  const has = GROUPS in claims ? ofGroups : [...new Set(scope_roles.map(({ role }) => role))];
  return { roles: has.filter((role) => ofScopes.has(role)), out_of_scope: has.filter((role) => !ofScopes.has(role)) };
}

const refused = (detail: string, cause?: unknown) =>
  new Failure('UNAUTHENTICATED', {
    detail,
    suggestion: 'Log in again, or ask the administrator of the identity provider.',
    cause,
    headers: { 'www-authenticate': 'Bearer realm="capstan", error="invalid_token"' },
  });

const unreachable = (cause: unknown) =>
  new Failure('EGRESS_FAILED', {
    detail: 'The identity provider could not be reached, or its answer could not be used.',
    suggestion: 'Try again, log in with a key, or check CAPSTAN_OIDC_ISSUER.',
    cause,
  });
