import { toAppDescriptor } from '@capstan/catalog';
import {
  Artifact,
  DEFAULT_TENANT,
  Failure,
  NewPoolTools,
  Pool,
  PoolArtifact,
  PoolBeat,
  PoolBeaten,
  PoolClaim,
  PoolClaimed,
  PoolLogs,
  PoolSecret,
  PoolSettled,
  PoolSettlement,
  PoolTools,
  type Principal,
} from '@capstan/contracts';
import { hashJson } from '@capstan/integrity';
import { putPoolVersion } from '@capstan/store';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { type Route, route } from '../http/route.js';
import { announceTools } from '../tool/installation-admin.js';

/** Whoever has the role `serve` serves the pool of the key; the installation's admin serves any. */
function poolOf({ roles, tenant, pool: own }: Principal, named: string | undefined): Pool {
  const pool = Pool.safeParse(named);
  if (!pool.success)
    throw new Failure('INVALID_REQUEST', { detail: `${JSON.stringify(named)} cannot be the name of a pool.` });
  if (roles.includes('serve') ? own !== pool.data : tenant !== DEFAULT_TENANT)
    throw new Failure('ROLE_MISSING', {
      detail: `This key does not serve the pool ${pool.data}.`,
      suggestion: `Make one that does: capstan keys create --role serve --pool ${pool.data}.`,
    });
  return pool.data;
}

/** Aborts when whoever asked has hung up. */
function whenGone(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  return gone.signal;
}

const roles: Route['roles'] = ['serve'];

export const poolRoutes: Route[] = [
  route({
    method: 'PUT',
    path: '/v1/pools/{pool}/tools',
    summary:
      'Declare the tools of a pool, in a version; workers of earlier versions go on with the calls that were admitted for them',
    roles,
    body: NewPoolTools,
    body_limit: 'bulk',
    answers: { 200: { description: 'Their ids and hashes, and what changed', schema: PoolTools } },
    handle: async (gateway, { principal, params, body }) => {
      const pool = poolOf(principal, params.pool);
      const descriptors = body.tools.map((tool) => toAppDescriptor(pool, tool));
      const changes = await putPoolVersion(gateway.store, principal, pool, { version: body.version, descriptors });
      const changed = [...changes.added, ...changes.changed, ...changes.removed];
      gateway.pool_versions.forget(pool);
      if (changed.length > 0) await announceTools(gateway);
      return {
        pool,
        version: body.version,
        tools: descriptors.map((one) => ({ tool_id: one.tool_id, descriptor_hash: hashJson(one) })),
        changed,
      };
    },
  }),
  route({
    method: 'POST',
    path: '/v1/pools/{pool}/claim',
    summary: 'Take calls to run; waits for some while there are none',
    roles,
    body: PoolClaim,
    answers: {
      200: { description: 'The calls, which are the worker’s own while it renews its lease', schema: PoolClaimed },
    },
    handle: async ({ app_workers }, { principal, params, body, reply }) => {
      const pool = poolOf(principal, params.pool);
      return { calls: await app_workers.claim(pool, body, whenGone(reply)), lease_ms: app_workers.lease_ms };
    },
  }),
  route({
    method: 'POST',
    path: '/v1/pools/{pool}/beat',
    summary: 'Renew the lease of a worker, and hear which of its calls to stop',
    roles,
    body: PoolBeat,
    answers: { 200: { description: 'Calls to stop, and calls that are not its own any more', schema: PoolBeaten } },
    handle: ({ app_workers }, { principal, params, body, reply }) =>
      app_workers.beat(poolOf(principal, params.pool), body, whenGone(reply)),
  }),
  route({
    method: 'POST',
    path: '/v1/pools/{pool}/settle',
    summary: 'Say how calls ended. Sent again, it is answered as the first time',
    roles,
    body: PoolSettlement,
    body_limit: 'bulk',
    answers: { 200: { description: 'Of each, whether it was taken or refused', schema: PoolSettled } },
    handle: ({ app_workers }, { principal, params, body }) => app_workers.settle(poolOf(principal, params.pool), body),
  }),
  route({
    method: 'POST',
    path: '/v1/pools/{pool}/logs',
    summary: 'Live output of calls; to be sent before they are settled',
    roles,
    body: PoolLogs,
    body_limit: 'bulk',
    answers: { 204: { description: 'Kept, where the call is the worker’s own' } },
    handle: async ({ app_workers }, { principal, params, body, reply }) => {
      await app_workers.log(poolOf(principal, params.pool), body);
      return reply.code(204).send();
    },
  }),
  route({
    method: 'PUT',
    path: '/v1/pools/{pool}/artifacts',
    summary: 'Keep a file with the result of a call',
    roles,
    query: PoolArtifact,
    raw_body: 'stream',
    answers: { 200: { description: 'The artifact, as the result will name it', schema: Artifact } },
    handle: ({ app_workers }, { principal, params, query, request }) => {
      const { body, headers } = request;
      return app_workers.keep(poolOf(principal, params.pool), query, {
        media_type: headers['content-type'] ?? 'application/octet-stream',
        content: contentOf(body),
      });
    },
  }),
  route({
    method: 'POST',
    path: '/v1/pools/{pool}/secrets',
    summary:
      'The value of a secret, for a call of a tool that may have it; from then on it is redacted from what the call gives',
    roles,
    body: PoolSecret,
    answers: { 200: { description: 'The value', schema: z.object({ value: z.string() }) } },
    handle: async ({ app_workers }, { principal, params, body }) => ({
      value: await app_workers.secret(poolOf(principal, params.pool), body),
    }),
  }),
];

/** JSON and YAML are parsed everywhere; what is kept of them is their text again. */
function contentOf(body: unknown): AsyncIterable<Uint8Array> | Uint8Array {
  if (body instanceof Uint8Array) return body;
  if (typeof body === 'object' && body !== null && Symbol.asyncIterator in body)
    return body as AsyncIterable<Uint8Array>;
  return Buffer.from(body === undefined || body === null ? '' : typeof body === 'string' ? body : JSON.stringify(body));
}
