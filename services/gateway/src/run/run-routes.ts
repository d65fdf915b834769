import { PageQuery, Run } from '@capstan/contracts';
import { getRun, listRuns } from '@capstan/store';
import { z } from 'zod';
import { type Route, route } from '../http/route.js';
import { notFound } from '../invocation/act-on.js';

export const runRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/runs',
    summary: 'List runs, newest first; a lone invocation is a run of its own',
    roles: ['submit', 'operate', 'audit'],
    query: PageQuery,
    answers: {
      200: { description: 'A page', schema: z.object({ items: z.array(Run), next_cursor: z.string().nullable() }) },
    },
    handle: ({ store }, { principal, query }) => listRuns(store, principal.tenant, query),
  }),
  route({
    method: 'GET',
    path: '/v1/runs/{id}',
    summary: 'One run with its counts',
    roles: ['submit', 'operate', 'audit'],
    answers: { 200: { description: 'The run', schema: Run } },
    handle: async ({ store }, { principal, params }) => {
      const run = await getRun(store, principal.tenant, params.id ?? '');
      if (!run) throw notFound(params.id ?? '');
      return run;
    },
  }),
];
