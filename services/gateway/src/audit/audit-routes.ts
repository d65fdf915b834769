import { AuditEntry, AuditFilter, AuditVerification, pageOf, SequenceQuery } from '@capstan/contracts';
import { exportAudit, listAudit, verifyAudit } from '@capstan/store/audit';
import { z } from 'zod';
import { type Route, route } from '../http/route.js';
import { NDJSON, sendTexts } from '../http/send-lines.js';
import { inGroups, withExecutions } from './with-executions.js';

const ListQuery = z.strictObject({ ...SequenceQuery.shape, ...AuditFilter.shape });

/** `complete` adds what is not stored with the page: an auditor's export must not contain less than the list. */
async function* lines(
  pages: AsyncIterable<AuditEntry[]>,
  complete: (page: AuditEntry[]) => Promise<AuditEntry[]>,
): AsyncGenerator<string> {
  for await (const page of pages)
    for (const group of inGroups(page))
      yield (await complete(group)).map((entry) => `${JSON.stringify(entry)}\n`).join('');
}

export const auditRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/audit',
    summary: 'List audit events, newest first; with Accept: application/x-ndjson, export all, oldest first',
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
      const complete = (entries: AuditEntry[]) => withExecutions(gateway, principal.tenant, entries);
      if (request.headers.accept?.includes('application/x-ndjson'))
        return sendTexts(reply, NDJSON, lines(exportAudit(store, principal.tenant, filter), complete));
      const page = await listAudit(store.db, principal.tenant, filter, { limit, cursor });
      return { ...page, items: await complete(page.items) };
    },
  }),
  route({
    method: 'GET',
    path: '/v1/audit/verify',
    summary: 'Verify the hash chain of the tenant’s audit events, and name what does not match',
    roles: ['audit', 'admin'],
    answers: { 200: { description: 'The verdict', schema: AuditVerification } },
    handle: ({ store }, { principal }) => verifyAudit(store, principal.tenant),
  }),
];
