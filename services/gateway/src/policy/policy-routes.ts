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
  PolicyVersion,
  type Principal,
  PutPolicy,
  pageOf,
  RollbackPolicy,
  Tenant,
  WhatIfAnswer,
  WhatIfRequest,
} from '@capstan/contracts';
import { compilePolicy, formatPolicy } from '@capstan/policy';
import { latestPolicy, listPolicyVersions, policyVersion } from '@capstan/store';
import { z } from 'zod';
import { type Route, route } from '../http/route.js';
import { notFound } from '../invocation/act-on.js';
import { explain } from './explain.js';
import { etagOf, putInForce } from './put-policy.js';
import { readPolicy } from './read-policy.js';
import { collectWhatIf, toNdjson, whatIf } from './what-if.js';

/** A policy governs the tenant it is named after; `default` governs all others, so only the installation's own admins change it. */
function requireOwn({ tenant }: Principal, name: string): void {
  if (name === INSTALLATION_POLICY && tenant !== DEFAULT_TENANT)
    throw new Failure('TENANT_FORBIDDEN', {
      detail: 'The policy of the installation is for an admin of the tenant default.',
      suggestion: 'capstan explain says what it decides about a call of this tenant.',
    });
  if (tenant !== DEFAULT_TENANT && tenant !== name)
    throw new Failure('TENANT_FORBIDDEN', {
      detail: `This key manages the policy ${tenant} alone.`,
      suggestion: `Put it as ${tenant}, which governs this tenant instead of default: capstan policy put <file> --name ${tenant}.`,
    });
}

/** A policy nobody could ever use is a mistyped name. */
function nameOf({ name = '' }: Record<string, string>): string {
  if (name === INSTALLATION_POLICY || Tenant.safeParse(name).success) return name;
  throw new Failure('INVALID_REQUEST', {
    detail: `A policy is named after a tenant, or ${INSTALLATION_POLICY}: ${JSON.stringify(name.slice(0, 80))} is neither.`,
  });
}

const YAML = 'application/yaml';
const NDJSON = 'application/x-ndjson';

export const policyRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/policies',
    summary: 'The versions of the policies, newest first within a name',
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
    summary: 'A policy: the latest version, or the one named',
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
      if (!policy) throw notFound(`policy ${name}${version === undefined ? '' : `, version ${version}`}`);
      reply.header('etag', etagOf(policy));
      if (!request.headers.accept?.includes(YAML)) return policy;
      reply.header('content-type', `${YAML}; charset=utf-8`);
      return formatPolicy(policy);
    },
  }),
  route({
    method: 'PUT',
    path: '/v1/policies/{name}',
    summary: `A new version of a policy, as JSON or YAML; in force at once. ${INSTALLATION_POLICY} bounds those of all tenants`,
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
    summary: 'Puts an earlier version of a policy in force again, as a new version',
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
      if (!earlier) throw notFound(`policy ${name}, version ${version}`);
      const sent = earlier.text ?? earlier.document;
      const put = await putInForce(gateway, principal, { name, sent, if_match: request.headers['if-match'] });
      reply.header('etag', etagOf(put));
      return put;
    },
  }),
  route({
    method: 'POST',
    path: '/v1/policy/explain',
    summary: 'What policy says of a call, with every rule looked at; nothing is recorded',
    roles: ['submit', 'operate', 'audit', 'admin'],
    body: ExplainRequest,
    answers: { 200: { description: 'The decision', schema: Explanation } },
    handle: (gateway, { principal, body }) => explain(gateway, principal, body),
  }),
  route({
    method: 'POST',
    path: '/v1/policy/what-if',
    summary: `Which recorded decisions a draft would change; as lines with progress for Accept: ${NDJSON}`,
    roles: ['audit', 'admin'],
    body: WhatIfRequest,
    answers: { 200: { description: 'The counts, and the first of the changed ones', schema: WhatIfAnswer } },
    handle: async (gateway, { principal: { tenant }, body, request, reply }) => {
      const { policy, since, until, limit } = body;
      const gone = new AbortController();
      reply.raw.on('close', () => gone.abort());
      const signal = AbortSignal.any([gone.signal, gateway.stopping]);
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
];
