import { Grant, NewGrant, pageOf, SequenceQuery } from '@capstan/contracts';
import { listGrants, revokeGrant } from '@capstan/store';
import { type Route, route } from '../http/route.js';
import { notFound } from '../invocation/act-on.js';
import { createGrant } from './create-grant.js';

export const grantRoutes: Route[] = [
  route({
    method: 'POST',
    path: '/v1/grants',
    summary: 'Vote in advance: for the next calls of a tool, or for the steps of a frozen plan',
    roles: ['operate'],
    body: NewGrant,
    answers: { 201: { description: 'The grant', schema: Grant } },
    handle: async (gateway, { principal, body, reply }) =>
      reply.code(201).send(await createGrant(gateway, principal, body)),
  }),
  route({
    method: 'GET',
    path: '/v1/grants',
    summary: 'List grants, newest first, also those that are used up',
    roles: ['operate', 'audit'],
    query: SequenceQuery.strict(),
    answers: {
      200: { description: 'A page', schema: pageOf(Grant) },
    },
    handle: ({ store }, { principal, query }) => {
      return listGrants(store.db, principal.tenant, query);
    },
  }),
  route({
    method: 'DELETE',
    path: '/v1/grants/{id}',
    summary: 'Take back a grant; what it released stays released',
    roles: ['operate'],
    answers: { 204: { description: 'It is good for nothing any more' } },
    handle: async ({ store, relay, rules }, { principal, params, reply }) => {
      if (!(await revokeGrant(store, principal, params.id ?? ''))) throw notFound(params.id ?? '');
      relay.publish('refresh', ['grants']);
      await rules.refresh();
      return reply.code(204).send();
    },
  }),
];
