import { resolveTool } from '@capstan/admission';
import { Grant, NewGrant, type Principal, pageOf, SequenceQuery } from '@capstan/contracts';
import { insertGrant, listGrants, revokeGrant } from '@capstan/store/hold';
import type { GatewayContext } from '../gateway-context.js';
import { type Route, route } from '../http/route.js';
import { notFound } from '../invocation/act-on.js';
import { redactComment } from './redact-comment.js';

export const grantRoutes: Route[] = [
  route({
    method: 'POST',
    path: '/v1/grants',
    summary: 'Create a grant: a vote in advance for the next calls of a tool, or for the steps of a plan',
    roles: ['operate'],
    body: NewGrant,
    answers: { 201: { description: 'The grant', schema: Grant } },
    handle: async (gateway, { principal, body, reply }) =>
      reply.code(201).send(await createGrant(gateway, principal, body)),
  }),
  route({
    method: 'GET',
    path: '/v1/grants',
    summary: 'List grants, newest first, including used ones',
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
    summary: 'Revoke a grant; calls already released stay released',
    roles: ['operate'],
    answers: { 204: { description: 'Revoked' } },
    handle: async ({ store, relay, rules }, { principal, params, reply }) => {
      if (!(await revokeGrant(store, principal, params.id ?? ''))) throw notFound(params.id ?? '');
      relay.publish('refresh', ['grants']);
      await rules.refresh();
      return reply.code(204).send();
    },
  }),
];

/** Refuses a grant for an unknown tool: it would never be used, without anybody noticing. */
async function createGrant(gateway: GatewayContext, principal: Principal, sent: NewGrant): Promise<Grant> {
  const { store, relay, rules, catalog } = gateway;
  const { tool_id, comment } = sent;
  const grant = await insertGrant(store, principal, {
    ...sent,
    // The id that calls are recorded with, even if the grant named the tool differently.
    ...(tool_id === undefined ? {} : { tool_id: resolveTool(catalog, tool_id).descriptor.tool_id }),
    ...(comment === undefined ? {} : { comment: redactComment(comment) }),
  });
  relay.publish('refresh', ['grants']);
  await rules.refresh();
  // Calls that are held already may use it.
  relay.publish('due', ['now']);
  return grant;
}
