import { Capability, pageOf } from '@capstan/contracts';
import { z } from 'zod';
import { AllQuery, pageOfAll } from '../http/page-of-all.js';
import { READERS, type Route, route } from '../http/route.js';
import { notFound } from '../invocation/act-on.js';

export const capabilityRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/capabilities',
    summary: 'List capabilities: prompts and tools that agents can have',
    roles: READERS,
    query: AllQuery,
    answers: {
      200: { description: 'All capabilities', schema: pageOf(Capability).extend({ total: z.int() }) },
    },
    handle: ({ capabilities }, { query }) => {
      const all = capabilities.list();
      return { ...pageOfAll(all, query), total: all.length };
    },
  }),
  route({
    method: 'GET',
    path: '/v1/capabilities/{id}',
    summary: 'Get a capability',
    roles: READERS,
    answers: { 200: { description: 'The capability', schema: Capability } },
    handle: ({ capabilities }, { params }) => {
      const capability = capabilities.get(params.id ?? '');
      if (!capability) throw notFound(`capability ${params.id}`);
      return capability;
    },
  }),
];
