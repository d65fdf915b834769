import { DEFAULT_TENANT, Failure, Policy, PolicyDocument, type Principal } from '@capstan/contracts';
import { parsePolicy } from '@capstan/policy';
import { latestPolicy, putPolicy } from '@capstan/store';
import { z } from 'zod';
import { type Route, route } from '../http/route.js';
import { notFound } from '../invocation/act-on.js';

/** A policy governs the tenant it is named after; `default` governs all others, so only the installation's own admins change it. */
function requireOwn({ tenant }: Principal, name: string): void {
  if (tenant !== DEFAULT_TENANT && tenant !== name)
    throw new Failure('TENANT_FORBIDDEN', { detail: `This key manages the policy ${tenant} alone.` });
}

export const policyRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/policies/{name}',
    summary: 'The latest version of a policy',
    roles: ['admin', 'audit'],
    answers: { 200: { description: 'The policy', schema: Policy } },
    handle: async ({ store }, { principal, params }) => {
      if (params.name !== DEFAULT_TENANT) requireOwn(principal, params.name ?? '');
      const policy = await latestPolicy(store.db, params.name ?? '');
      if (!policy) throw notFound(`policy ${params.name}`);
      return policy;
    },
  }),
  route({
    method: 'PUT',
    path: '/v1/policies/{name}',
    summary: 'A new version of a policy, as JSON or YAML; in force at once',
    roles: ['admin'],
    body: z.unknown().meta({ override: PolicyDocument }),
    answers: { 200: { description: 'The policy', schema: Policy } },
    handle: async ({ store, relay, policies }, { principal, params, body }) => {
      requireOwn(principal, params.name ?? '');
      const policy = await putPolicy(store, principal, params.name ?? '', parsePolicy(body));
      relay.publish('refresh', ['policies']);
      await policies.refresh();
      return policy;
    },
  }),
];
