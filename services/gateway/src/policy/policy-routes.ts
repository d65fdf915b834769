import { Readable } from 'node:stream';
import {
  DEFAULT_TENANT,
  ExplainRequest,
  Explanation,
  Failure,
  INSTALLATION_POLICY,
  PageQuery,
  Policy,
  PolicyDocument,
  PolicyProposal,
  PolicyVersion,
  type Principal,
  ProposeRequest,
  PutPolicy,
  pageOf,
  RollbackPolicy,
  Tenant,
  WhatIfAnswer,
  WhatIfRequest,
} from '@capstan/contracts';
import { compilePolicy, formatPolicy } from '@capstan/policy';
import { latestPolicy, listPolicyVersions, policyVersion } from '@capstan/store/policy';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import type { GatewayContext } from '../gateway-context.js';
import { type Route, route } from '../http/route.js';
import { notFound } from '../invocation/act-on.js';
import { explain } from './explain.js';
import { proposeFor } from './propose.js';
import { etagOf, putInForce } from './put-policy.js';
import { readPolicy } from './read-policy.js';
import { collectWhatIf, toNdjson, whatIf } from './what-if.js';

/** A policy governs the tenant it is named after. `default` governs all others, so only admins of the installation change it. */
function requireOwn({ tenant }: Principal, name: string): void {
  if (name === INSTALLATION_POLICY && tenant !== DEFAULT_TENANT)
    throw new Failure('TENANT_FORBIDDEN', {
      detail: 'Only an admin of the tenant default manages the policy of the installation.',
      suggestion: 'To see what it decides about a call of this tenant, use capstan explain.',
    });
  if (tenant !== DEFAULT_TENANT && tenant !== name)
    throw new Failure('TENANT_FORBIDDEN', {
      detail: `This key manages the policy ${tenant} alone.`,
      suggestion: `Put it as ${tenant}, which governs this tenant instead of default: capstan policy put <file> --name ${tenant}.`,
    });
}

/** A name that belongs to no tenant would never govern anything, so it is probably a typo. */
function nameOf({ name = '' }: Record<string, string>): string {
  if (name === INSTALLATION_POLICY || Tenant.safeParse(name).success) return name;
  throw new Failure('INVALID_REQUEST', {
    detail: `A policy is named after a tenant, or ${INSTALLATION_POLICY}: ${JSON.stringify(name.slice(0, 80))} is neither.`,
  });
}

/** Aborts when the client disconnects or the gateway stops. */
function whileAsked({ stopping }: GatewayContext, reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.on('close', () => gone.abort());
  return AbortSignal.any([gone.signal, stopping]);
}

const YAML = 'application/yaml';
const NDJSON = 'application/x-ndjson';

const LOOK = 'List policies and their versions with capstan policy list, or GET /v1/policies.';

export const policyRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/policies',
    summary: 'List policy versions, newest first within a name',
    roles: ['admin', 'audit'],
    query: PageQuery.extend({ name: z.string().optional() }).strict(),
    answers: {
      200: {
        description: 'A page of versions',
        schema: pageOf(PolicyVersion),
      },
    },
    handle: ({ store }, { principal: { tenant }, query: { name, ...page } }) => {
      const visible = tenant === DEFAULT_TENANT ? null : [DEFAULT_TENANT, tenant];
      return listPolicyVersions(store.db, { name, visible }, page);
    },
  }),
  route({
    method: 'GET',
    path: '/v1/policies/{name}',
    summary: 'Get the latest or a given version of a policy',
    roles: ['admin', 'audit'],
    query: z.strictObject({ version: z.coerce.number().int().min(1).max(2_147_483_647).optional() }),
    answers: {
      200: {
        description:
          'The policy, and its ETag; as YAML with the comments it was written with for Accept: application/yaml',
        schema: Policy,
      },
    },
    handle: async ({ store }, { principal, params, query: { version }, request, reply }) => {
      const name = params.name ?? '';
      if (name !== DEFAULT_TENANT) requireOwn(principal, name);
      const policy =
        version === undefined ? await latestPolicy(store.db, name) : await policyVersion(store.db, name, version);
      if (!policy) throw notFound(`policy ${name}${version === undefined ? '' : `, version ${version}`}`, LOOK);
      reply.header('etag', etagOf(policy));
      if (!request.headers.accept?.includes(YAML)) return policy;
      reply.header('content-type', `${YAML}; charset=utf-8`);
      return formatPolicy(policy);
    },
  }),
  route({
    method: 'PUT',
    path: '/v1/policies/{name}',
    summary: `Put a new version of a policy, as JSON or YAML; in force at once. ${INSTALLATION_POLICY} bounds the policies of all tenants`,
    roles: ['admin'],
    body: z.unknown().meta({ override: PolicyDocument }),
    if_match_header: true,
    answers: {
      200: { description: 'The policy and its ETag, and warnings about names that match no tool', schema: PutPolicy },
      412: { description: 'If-Match names another version than the one in force' },
    },
    handle: async (gateway, { principal, params, body, request, reply }) => {
      const name = nameOf(params);
      requireOwn(principal, name);
      const put = await putInForce(gateway, principal, { name, sent: body, if_match: request.headers['if-match'] });
      reply.header('etag', etagOf(put));
      return put;
    },
  }),
  route({
    method: 'POST',
    path: '/v1/policies/{name}/rollback',
    summary: 'Roll back a policy: put an earlier version in force as a new version',
    roles: ['admin'],
    body: RollbackPolicy,
    if_match_header: true,
    answers: {
      200: { description: 'The new version, and its ETag', schema: PutPolicy },
      404: { description: 'There is no such version' },
      412: { description: 'If-Match names another version than the one in force' },
    },
    handle: async (gateway, { principal, params, body: { version }, request, reply }) => {
      const name = nameOf(params);
      requireOwn(principal, name);
      const earlier = await policyVersion(gateway.store.db, name, version);
      if (!earlier) throw notFound(`policy ${name}, version ${version}`, LOOK);
      // Always as text, so that going back to a version that was sent as JSON also takes back later comments.
      const sent = formatPolicy(earlier);
      const put = await putInForce(gateway, principal, { name, sent, if_match: request.headers['if-match'] });
      reply.header('etag', etagOf(put));
      return put;
    },
  }),
  route({
    method: 'POST',
    path: '/v1/policy/explain',
    summary: 'Explain what policy decides about a call, rule by rule; nothing is recorded',
    roles: ['submit', 'operate', 'audit', 'admin'],
    body: ExplainRequest,
    answers: { 200: { description: 'The decision', schema: Explanation } },
    handle: (gateway, { principal, body }) => explain(gateway, principal, body),
  }),
  route({
    method: 'POST',
    path: '/v1/policy/what-if',
    summary: `List the recorded decisions that a draft policy would change; with Accept: ${NDJSON}, as lines with progress`,
    roles: ['audit', 'admin'],
    body: WhatIfRequest,
    answers: { 200: { description: 'The counts, and the first changed decisions', schema: WhatIfAnswer } },
    handle: async (gateway, { principal: { tenant }, body, request, reply }) => {
      const { policy, since, until, limit } = body;
      const signal = whileAsked(gateway, reply);
      const lines = whatIf(
        gateway,
        compilePolicy({
          ...(await readPolicy(gateway, tenant, policy)),
          installation: gateway.policies.installation(),
        }),
        { tenant, since, until, limit },
        signal,
      );
      if (!request.headers.accept?.includes(NDJSON)) return collectWhatIf(lines);
      reply.header('content-type', NDJSON);
      return reply.send(Readable.from(toNdjson(lines)));
    },
  }),
  route({
    method: 'POST',
    path: '/v1/policy/propose',
    summary: 'Propose a rule that allows calls like a held one, with its scope and what it would have changed',
    roles: ['operate', 'audit', 'admin'],
    body: ProposeRequest,
    answers: {
      200: { description: 'The proposed rule; no policy is changed', schema: PolicyProposal },
      409: { description: 'No rule of the tenant could allow it, or policy does not hold it any more' },
    },
    handle: (gateway, { principal, body, reply }) => proposeFor(gateway, principal, body, whileAsked(gateway, reply)),
  }),
];
