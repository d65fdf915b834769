import { Descriptor, RunnerType } from '@capstan/contracts';
import { z } from 'zod';
import { type Route, route } from '../http/route.js';
import { notFound } from '../invocation/act-on.js';

const Tool = Descriptor.extend({ descriptor_hash: z.string() });
const ToolQuery = z.strictObject({ q: z.string().optional(), runner: RunnerType.optional() });

export const toolRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/tools',
    summary: 'The tools that can be invoked',
    roles: ['submit', 'operate', 'audit'],
    query: ToolQuery,
    answers: { 200: { description: 'All tools', schema: z.object({ items: z.array(Tool), next_cursor: z.null() }) } },
    handle: ({ catalog }, { query: { q, runner } }) => ({
      items: catalog
        .list()
        .filter(({ descriptor }) => runner === undefined || descriptor.runner === runner)
        .filter(({ descriptor }) =>
          `${descriptor.tool_id} ${descriptor.description}`.toLowerCase().includes((q ?? '').toLowerCase()),
        )
        .map(({ descriptor, descriptor_hash }) => ({ ...descriptor, descriptor_hash })),
      next_cursor: null,
    }),
  }),
  route({
    method: 'GET',
    path: '/v1/tools/{tool_id}',
    summary: 'One tool',
    roles: ['submit', 'operate', 'audit'],
    answers: { 200: { description: 'The tool', schema: Tool } },
    handle: ({ catalog }, { params }) => {
      const tool = catalog.get(params.tool_id ?? '');
      if (!tool) throw notFound(`tool ${params.tool_id}`);
      return { ...tool.descriptor, descriptor_hash: tool.descriptor_hash };
    },
  }),
];
