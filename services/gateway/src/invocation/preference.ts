import { Failure } from '@capstan/contracts';
import type { FastifyRequest } from 'fastify';

const DEFAULT_WAIT_S = 20;
const MAX_WAIT_S = 120;

/** `Prefer: wait=20` (RFC 7240) or `?wait=20`, in seconds. Zero: do not wait. */
export function waitAsked(request: FastifyRequest, query: string | undefined): number {
  const asked = query ?? preference(request.headers.prefer);
  if (asked === undefined) return 0;
  const seconds = asked === '' ? DEFAULT_WAIT_S : Number(asked);
  if (!Number.isFinite(seconds) || seconds < 0)
    throw new Failure('INVALID_REQUEST', { detail: `wait: ${JSON.stringify(asked)} is not a number of seconds` });
  return Math.min(seconds, MAX_WAIT_S) * 1000;
}

function preference(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  const text = Array.isArray(header) ? header.join() : header;
  return /(?:^|[,;\s])wait(?:\s*=\s*"?([^",;\s]*)"?)?(?:$|[,;\s])/i
    .exec(text)
    ?.slice(1)
    .map((value) => value ?? '')[0];
}
