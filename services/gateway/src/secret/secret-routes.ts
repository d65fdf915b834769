import { DEFAULT_TENANT, Failure, NewSecret, type Principal, pageOf, Secret, SecretName } from '@capstan/contracts';
import { deleteSecret, listSecrets, putSecret, rewrapSecrets } from '@capstan/store/secret';
import { z } from 'zod';
import { AllQuery, pageOfAll } from '../http/page-of-all.js';
import { type Route, route } from '../http/route.js';
import { notFound } from '../invocation/act-on.js';

const Tenant = z.strictObject({
  tenant: z.string().optional().describe('Another than your own; for the default tenant'),
});

/** An admin of the default tenant manages all tenants; any other admin only their own. */
const tenantOf = (principal: Principal, asked: string | undefined): string => {
  if (asked === undefined || asked === principal.tenant) return principal.tenant;
  if (principal.tenant === DEFAULT_TENANT) return asked;
  throw new Failure('TENANT_FORBIDDEN', { detail: `This key manages the tenant ${principal.tenant} alone.` });
};

const nameOf = (params: Record<string, string>): string => {
  const name = SecretName.safeParse(params.name);
  if (name.success) return name.data;
  throw new Failure('INVALID_REQUEST', { detail: `A secret's name has ${name.error.issues[0]?.message}, at most 63.` });
};

export const secretRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/secrets',
    summary: 'List the names of secrets; values are never returned',
    roles: ['admin'],
    query: AllQuery.extend(Tenant.shape),
    answers: { 200: { description: 'All', schema: pageOf(Secret) } },
    handle: async ({ store }, { principal, query }) =>
      pageOfAll(await listSecrets(store.db, tenantOf(principal, query.tenant)), query),
  }),
  route({
    method: 'PUT',
    path: '/v1/secrets/{name}',
    summary: 'Store a secret, encrypted; tools use it as secret://name',
    roles: ['admin'],
    query: Tenant,
    body: NewSecret,
    answers: { 200: { description: 'Stored', schema: Secret } },
    handle: ({ store, secret_keys }, { principal, params, query, body }) =>
      putSecret(
        store,
        secret_keys,
        principal,
        { tenant: tenantOf(principal, query.tenant), name: nameOf(params) },
        body,
      ),
  }),
  route({
    method: 'DELETE',
    path: '/v1/secrets/{name}',
    summary: 'Delete a secret',
    roles: ['admin'],
    query: Tenant,
    answers: { 204: { description: 'Gone' } },
    handle: async ({ store }, { principal, params, query, reply }) => {
      const place = { tenant: tenantOf(principal, query.tenant), name: nameOf(params) };
      if (!(await deleteSecret(store, principal, place))) throw notFound(place.name);
      return reply.code(204).send();
    },
  }),
  route({
    method: 'POST',
    path: '/v1/secrets/rewrap',
    summary: 'Re-encrypt all secrets with the first key, so that an old key can be removed',
    roles: ['admin'],
    answers: { 200: { description: 'The number of secrets re-encrypted', schema: z.object({ rewrapped: z.int() }) } },
    handle: async ({ store, secret_keys }, { principal }) => {
      if (principal.tenant !== DEFAULT_TENANT)
        throw new Failure('TENANT_FORBIDDEN', { detail: 'Only an admin of the default tenant changes keys.' });
      return { rewrapped: await rewrapSecrets(store, secret_keys, principal) };
    },
  }),
];
