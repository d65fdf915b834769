import { DEFAULT_TENANT, Failure, Key, NewKey, type Principal, pageOf } from '@capstan/contracts';
import { createKey, deleteKey, listKeys } from '@capstan/store/key';
import { z } from 'zod';
import { AllQuery, pageOfAll } from '../http/page-of-all.js';
import { type Route, route } from '../http/route.js';
import { notFound } from '../invocation/act-on.js';

/** An admin of the default tenant sees the keys of the whole installation; any other admin only those of their own tenant. */
const scope = ({ tenant }: Principal): string | null => (tenant === DEFAULT_TENANT ? null : tenant);

export const keyRoutes: Route[] = [
  route({
    method: 'POST',
    path: '/v1/keys',
    summary: 'Create a key; it is shown only once',
    roles: ['admin'],
    body: NewKey,
    answers: { 201: { description: 'The key', schema: Key.extend({ key: z.string() }) } },
    handle: async ({ store }, { principal, body, reply }) => {
      const tenant = scope(principal);
      if (tenant !== null && body.tenant !== tenant)
        throw new Failure('TENANT_FORBIDDEN', { detail: `This key manages the tenant ${tenant} alone.` });
      // Whoever serves a pool replaces its tools, and gets the calls and secrets of every tenant that calls them.
      if (tenant !== null && body.roles.includes('serve'))
        throw new Failure('TENANT_FORBIDDEN', {
          detail: 'Pools serve every tenant, so only an admin of the default tenant can create keys for them.',
        });
      return reply.code(201).send(await createKey(store, principal, body));
    },
  }),
  route({
    method: 'GET',
    path: '/v1/keys',
    summary: 'List keys, without their secrets',
    roles: ['admin'],
    query: AllQuery,
    answers: { 200: { description: 'All keys', schema: pageOf(Key) } },
    handle: async ({ store }, { principal, query }) => pageOfAll(await listKeys(store.db, scope(principal)), query),
  }),
  route({
    method: 'DELETE',
    path: '/v1/keys/{id}',
    summary: 'Delete a key; it stops working at once',
    roles: ['admin'],
    answers: { 204: { description: 'Gone' } },
    handle: async ({ store, relay, authenticator }, { principal, params, reply }) => {
      if (!(await deleteKey(store, principal, params.id ?? '', scope(principal)))) throw notFound(params.id ?? '');
      authenticator.forget();
      relay.publish('refresh', ['keys']);
      return reply.code(204).send();
    },
  }),
];
