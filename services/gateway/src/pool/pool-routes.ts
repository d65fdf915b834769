import { Readable } from 'node:stream';
import { compileSchema, toAppDescriptor } from '@capstan/catalog';
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
  type ToolDeclaration,
} from '@capstan/contracts';
import { hashJson } from '@capstan/integrity';
import { putPoolVersion } from '@capstan/store/pool';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { type Route, route } from '../http/route.js';
import { announceTools } from '../tool/installation-admin.js';

/** A key with the role `serve` serves its own pool; an admin of the installation serves any pool. */
function poolOf({ roles, tenant, pool: own }: Principal, named: string | undefined): Pool {
  const pool = Pool.safeParse(named);
  if (!pool.success)
    throw new Failure('INVALID_REQUEST', { detail: `${JSON.stringify(named)} cannot be the name of a pool.` });
  if (roles.includes('serve') ? own !== pool.data : tenant !== DEFAULT_TENANT)
    throw new Failure('ROLE_MISSING', {
      detail: `This key does not serve the pool ${pool.data}.`,
      suggestion: `Create a key that does: capstan keys create --role serve --pool ${pool.data}.`,
    });
  return pool.data;
}

/** A tool with a schema that cannot be used could never be called: its developer should learn that here. */
function checkSchemas(tools: readonly ToolDeclaration[]): void {
  const errors = tools.flatMap((tool, n) =>
    (['input_schema', 'output_schema'] as const).flatMap((name) => {
      try {
        if (tool[name]) compileSchema(tool[name]);
        return [];
      } catch (error) {
        return [{ field: `tools.${n}.${name}`, message: error instanceof Error ? error.message : String(error) }];
      }
    }),
  );
  const [first] = errors;
  if (first) throw new Failure('INVALID_REQUEST', { detail: `${first.field}: ${first.message}`, context: { errors } });
}

/** Aborts when the client disconnects. */
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
      'Declare the tools of a pool under a version; workers of earlier versions finish the calls admitted for them',
    roles,
    body: NewPoolTools,
    body_limit: 'bulk',
    answers: { 200: { description: 'Their ids and hashes, and what changed', schema: PoolTools } },
    handle: async (gateway, { principal, params, body }) => {
      const pool = poolOf(principal, params.pool);
      checkSchemas(body.tools);
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
    summary: 'Claim calls to run; waits while there are none',
    roles,
    body: PoolClaim,
    answers: {
      200: { description: 'The calls; the worker owns them while it renews its lease', schema: PoolClaimed },
    },
    handle: async ({ app_workers }, { principal, params, body, reply }) => {
      const pool = poolOf(principal, params.pool);
      return { calls: await app_workers.claim(pool, body, whenGone(reply)), lease_ms: app_workers.lease_ms };
    },
  }),
  route({
    method: 'POST',
    path: '/v1/pools/{pool}/beat',
    summary: 'Renew the lease of a worker, and get the calls it must stop',
    roles,
    body: PoolBeat,
    answers: { 200: { description: 'Calls to stop, and calls that the worker no longer owns', schema: PoolBeaten } },
    handle: ({ app_workers }, { principal, params, body, reply }) =>
      app_workers.beat(poolOf(principal, params.pool), body, whenGone(reply)),
  }),
  route({
    method: 'POST',
    path: '/v1/pools/{pool}/settle',
    summary: 'Report how calls ended; safe to repeat',
    roles,
    body: PoolSettlement,
    body_limit: 'bulk',
    answers: { 200: { description: 'For each result, whether it was taken or refused', schema: PoolSettled } },
    handle: ({ app_workers }, { principal, params, body }) => app_workers.settle(poolOf(principal, params.pool), body),
  }),
  route({
    method: 'POST',
    path: '/v1/pools/{pool}/logs',
    summary: 'Append live output of calls; send it before they are settled',
    roles,
    body: PoolLogs,
    body_limit: 'bulk',
    answers: { 204: { description: 'Stored, for calls that the worker owns; the rest is ignored' } },
    handle: async ({ app_workers }, { principal, params, body, reply }) => {
      await app_workers.log(poolOf(principal, params.pool), body);
      return reply.code(204).send();
    },
  }),
  route({
    method: 'PUT',
    path: '/v1/pools/{pool}/artifacts',
    summary: 'Upload an artifact of a call',
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
    summary: 'Get the value of a secret for a call; it is redacted from the output of the call from then on',
    roles,
    body: PoolSecret,
    answers: { 200: { description: 'The value', schema: z.object({ value: z.string() }) } },
    handle: async ({ app_workers }, { principal, params, body }) => ({
      value: await app_workers.secret(poolOf(principal, params.pool), body),
    }),
  }),
];

/** Fastify gives no body to a request of length 0. */
const contentOf = (body: unknown): AsyncIterable<Uint8Array> | Uint8Array =>
  body instanceof Readable ? body : new Uint8Array();
