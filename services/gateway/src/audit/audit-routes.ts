import { AuditEntry, AuditFilter, AuditVerification, pageOf, SequenceQuery } from '@capstan/contracts';
import { exportAudit, listAudit, verifyAudit } from '@capstan/store';
import { z } from 'zod';
import { type Route, route } from '../http/route.js';
import { NDJSON, sendTexts } from '../http/send-lines.js';
import { withExecutions } from './with-executions.js';

const ListQuery = z.strictObject({ ...SequenceQuery.shape, ...AuditFilter.shape });

async function* lines(pages: AsyncIterable<AuditEntry[]>): AsyncGenerator<string> {
  for await (const page of pages) yield page.map((entry) => `${JSON.stringify(entry)}\n`).join('');
}

export const auditRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/audit',
    summary: 'What was changed or refused, by whom, newest first; as application/x-ndjson all of it, oldest first',
    roles: ['audit', 'admin'],
    query: ListQuery,
    answers: {
      200: {
        description: 'A page',
        schema: pageOf(AuditEntry),
      },
    },
    handle: async (gateway, { principal, query, request, reply }) => {
      const { store } = gateway;
      const { limit, cursor, ...filter } = query;
      if (request.headers.accept?.includes('application/x-ndjson'))
        return sendTexts(reply, NDJSON, lines(exportAudit(store, principal.tenant, filter)));
      const page = await listAudit(store.db, principal.tenant, filter, { limit, cursor });
      return { ...page, items: await withExecutions(gateway, principal.tenant, page.items) };
    },
  }),
  route({
    method: 'GET',
    path: '/v1/audit/verify',
    summary: 'Recompute the chain of the tenant’s events, and name what does not match',
    roles: ['audit', 'admin'],
    answers: { 200: { description: 'The verdict', schema: AuditVerification } },
    handle: ({ store }, { principal }) => verifyAudit(store, principal.tenant),
  }),
];
