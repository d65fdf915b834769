import { Failure, type Role } from '@capstan/contracts';
import type { FastifyRequest } from 'fastify';
import type { GatewayContext } from '../gateway-context.js';
import { baseUrl } from '../http/base-url.js';
import { type Route, route } from '../http/route.js';

const WELL_KNOWN = '/.well-known/oauth-protected-resource';
export const MCP_ROLES: Role[] = ['submit'];

/** An MCP endpoint as an OAuth protected resource. */
export type ProtectedResource = {
  metadata_url: string;
  /** The audiences that tokens may have, besides the configured one. */
  audiences: string[];
  /** The scopes of which a token needs one. */
  scopes: string[];
};

type Around = Pick<GatewayContext, 'oidc' | 'public_url'>;

/** Null if no identity provider is configured. */
export function protectedResource({ oidc, public_url }: Around, request: FastifyRequest): ProtectedResource | null {
  if (!oidc) return null;
  const base = baseUrl({ public_url }, request);
  const [path = ''] = request.url.split('?', 1);
  return {
    metadata_url: `${base}${WELL_KNOWN}${path}`,
    // A token for all tools is also valid for a toolset, but not the other way round.
    audiences: isOwnAddress(public_url, request) ? [`${base}${path}`, `${base}/mcp`, base, `${base}/`] : [],
    scopes: oidc.scopesFor(MCP_ROLES),
  };
}

/**
 * The caller chooses the Host header. If its port did not have to match the connection, another server on this machine could pass
 * on tokens that were issued for itself.
 */
const isOwnAddress = (public_url: string | undefined, { socket, port }: FastifyRequest): boolean =>
  public_url !== undefined || port === socket.localPort;

/** Adds to a refusal where the client can find out how to get a token (RFC 9728, RFC 6750). */
export function withChallenge(failure: unknown, { metadata_url, scopes }: ProtectedResource): unknown {
  const challenge = failure instanceof Failure ? failure.headers['www-authenticate'] : undefined;
  if (!(failure instanceof Failure) || challenge === undefined) return failure;
  const scope = scopes.length === 0 || challenge.includes('scope="') ? '' : `, scope="${scopes.join(' ')}"`;
  return new Failure(failure.kind, {
    detail: failure.message,
    suggestion: failure.suggestion,
    retryable: failure.retryable,
    cause: failure.cause,
    context: failure.context,
    headers: { ...failure.headers, 'www-authenticate': `${challenge}, resource_metadata="${metadata_url}"${scope}` },
  });
}

export const protectedResourceRoutes: Route[] = ['', '/mcp', '/mcp/{toolset}'].map((path) =>
  route({
    method: 'GET',
    path: `${WELL_KNOWN}${path}`,
    summary: 'Get the OAuth protected resource metadata of the MCP endpoint (RFC 9728)',
    own_pages_only: true,
    answers: {
      200: { description: 'The metadata' },
      404: { description: 'No identity provider is configured' },
    },
    handle: (gateway, { request }) => {
      const { oidc } = gateway;
      if (!oidc)
        throw new Failure('NOT_FOUND', {
          detail: 'No identity provider is configured, so this endpoint accepts no tokens.',
          suggestion: 'Send a key as Authorization: Bearer <key>, or set CAPSTAN_OIDC_ISSUER on the gateway.',
        });
      const [at = ''] = request.url.split('?', 1);
      const scopes = oidc.scopesFor(MCP_ROLES);
      return {
        resource: `${baseUrl(gateway, request)}${at.slice(WELL_KNOWN.length)}`,
        resource_name: 'Capstan',
        authorization_servers: [oidc.issuer],
        bearer_methods_supported: ['header'],
        ...(scopes.length > 0 ? { scopes_supported: scopes } : {}),
      };
    },
  }),
);
