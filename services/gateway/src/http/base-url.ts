import type { FastifyRequest } from 'fastify';
import type { GatewayContext } from '../gateway-context.js';

/** The URL under which the sender of a request reaches this gateway, without a trailing slash. */
export const baseUrl = (
  { public_url }: Pick<GatewayContext, 'public_url'>,
  { protocol, host }: Pick<FastifyRequest, 'protocol' | 'host'>,
): string => (public_url ?? `${protocol}://${host}`).replace(/\/$/, '');
