import { Report } from '@capstan/contracts';
import { z } from 'zod';
import { type Route, route } from '../http/route.js';
import { buildReport } from './build-report.js';
import { renderHtml } from './render-html.js';
import { renderText } from './render-text.js';

const Format = z.strictObject({ format: z.enum(['json', 'text', 'html']).default('json') });

export const reportRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/runs/{id}/report',
    summary: 'Get a report of a run, step by step, as JSON, text or a self-contained HTML page',
    roles: ['submit', 'operate', 'audit'],
    query: Format,
    answers: { 200: { description: 'The report', schema: Report } },
    handle: async (gateway, { principal, params, query, reply }) => {
      const report = await buildReport(gateway, principal, params.id ?? '');
      if (query.format === 'json') return report;
      if (query.format === 'text')
        return reply.header('content-type', 'text/plain; charset=utf-8').send(renderText(report));
      reply.headers({
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
        'x-content-type-options': 'nosniff',
      });
      return reply.send(renderHtml(report));
    },
  }),
];
