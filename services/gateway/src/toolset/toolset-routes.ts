import { NewToolset, pageOf, Toolset } from '@capstan/contracts';
import { deleteToolset, getToolset, listToolsets, putToolset } from '@capstan/store/toolset';
import { AllQuery, pageOfAll } from '../http/page-of-all.js';
import { READERS, type Route, route } from '../http/route.js';
import { notFound } from '../invocation/act-on.js';

export const toolsetRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/toolsets',
    summary: 'List toolsets: named selections of tools, each served at /mcp/{name}',
    roles: READERS,
    query: AllQuery,
    answers: { 200: { description: 'All toolsets of the tenant', schema: pageOf(Toolset) } },
    handle: async ({ store }, { principal, query }) => pageOfAll(await listToolsets(store.db, principal.tenant), query),
  }),
  route({
    method: 'GET',
    path: '/v1/toolsets/{name}',
    summary: 'Get a toolset',
    roles: READERS,
    answers: { 200: { description: 'The toolset', schema: Toolset } },
    handle: async ({ store }, { principal, params }) => {
      const toolset = await getToolset(store.db, principal.tenant, params.name ?? '');
      if (!toolset) throw notFound(`toolset ${params.name}`);
      return toolset;
    },
  }),
  route({
    method: 'POST',
    path: '/v1/toolsets',
    summary: 'Create a toolset, or replace the one of that name',
    roles: ['admin'],
    body: NewToolset,
    answers: { 200: { description: 'The toolset', schema: Toolset } },
    handle: async ({ store, relay }, { principal, body }) => {
      const toolset = await putToolset(store, principal, body);
      // Connected clients list the tools again.
      relay.publish('refresh', ['tools']);
      return toolset;
    },
  }),
  route({
    method: 'DELETE',
    path: '/v1/toolsets/{name}',
    summary: 'Delete a toolset; its tools stay',
    roles: ['admin'],
    answers: { 204: { description: 'Deleted' } },
    handle: async ({ store }, { principal, params, reply }) => {
      if (!(await deleteToolset(store, principal, params.name ?? ''))) throw notFound(`toolset ${params.name}`);
      return reply.code(204).send();
    },
  }),
];
