import { Failure } from '@capstan/contracts';
import type { FastifyRequest } from 'fastify';

/** Throws a Failure unless a page of this gateway sent the request. */
export type CheckOrigin = (request: Pick<FastifyRequest, 'headers'>) => void;

/**
 * Stricter than the check of /mcp, which accepts pages from any port of this machine: cookies ignore the port, so any other page
 * served on localhost could act with the login of whoever opens it.
 */
export function createOriginCheck({ public_url }: { public_url?: string | undefined }): CheckOrigin {
  const own = public_url === undefined ? null : new URL(public_url).origin;
  return ({ headers: { origin, host, 'sec-fetch-site': site } }) => {
    if (origin === undefined ? site === 'same-origin' : origin === own || hostOf(origin) === host?.toLowerCase())
      return;
    throw new Failure('CALLER_REFUSED', {
      detail:
        origin === undefined
          ? 'A request with a login cookie has to say which page sent it, and this one has no Origin.'
          : `Pages of ${JSON.stringify(origin)} may not act with a login of this gateway.`,
      suggestion:
        'Use the console of this gateway, or send a key as Authorization: Bearer <key> instead of the cookie.',
    });
  };
}

function hostOf(origin: string): string | null {
  return URL.canParse(origin) && new URL(origin).origin === origin ? new URL(origin).host : null;
}
