import { DEFAULT_TENANT, Failure, NewRetention, type Principal, pageOf, Retention } from '@capstan/contracts';
import { deleteRetention, getRetention, listRetentions, putRetention } from '@capstan/store/retention';
import { AllQuery, pageOfAll } from '../http/page-of-all.js';
import { OVERSEERS, type Route, route } from '../http/route.js';

/** Tenants must not shorten their own retention: they could make their records disappear. */
function mayChange({ tenant }: Principal): void {
  if (tenant !== DEFAULT_TENANT)
    throw new Failure('TENANT_FORBIDDEN', { detail: 'Only an admin of the default tenant sets retention.' });
}

const maySee = ({ tenant }: Principal, of: string): boolean => tenant === DEFAULT_TENANT || tenant === of;

const none = (tenant: string): Failure =>
  new Failure('NOT_FOUND', {
    detail: `${tenant} has no retention of its own.`,
    suggestion: 'The retention of the installation applies: CAPSTAN_RETENTION_DAYS on the coordinator.',
  });

export const retentionRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/retention',
    summary: 'List the retention of tenants; tenants not listed use that of the installation',
    roles: OVERSEERS,
    query: AllQuery,
    answers: { 200: { description: 'All', schema: pageOf(Retention) } },
    handle: async ({ store }, { principal, query }) => {
      const all = await listRetentions(store.db);
      return pageOfAll(
        all.filter(({ tenant }) => maySee(principal, tenant)),
        query,
      );
    },
  }),
  route({
    method: 'GET',
    path: '/v1/retention/{tenant}',
    summary: 'Get the retention of a tenant',
    roles: OVERSEERS,
    answers: { 200: { description: 'The settings', schema: Retention } },
    handle: async ({ store }, { principal, params: { tenant = '' } }) => {
      const retention = maySee(principal, tenant) && (await getRetention(store.db, tenant));
      if (!retention) throw none(tenant);
      return retention;
    },
  }),
  route({
    method: 'PUT',
    path: '/v1/retention/{tenant}',
    summary: 'Set the retention of a tenant, by final status; older data is removed at once',
    roles: ['admin'],
    body: NewRetention,
    answers: { 200: { description: 'The settings', schema: Retention } },
    handle: async ({ store, relay }, { principal, params: { tenant = '' }, body }) => {
      mayChange(principal);
      const retention = await putRetention(store, principal, tenant, body);
      relay.publish('due', ['retention']);
      return retention;
    },
  }),
  route({
    method: 'DELETE',
    path: '/v1/retention/{tenant}',
    summary: 'Delete the retention of a tenant; that of the installation applies again',
    roles: ['admin'],
    answers: { 204: { description: 'Deleted' } },
    handle: async ({ store }, { principal, params: { tenant = '' }, reply }) => {
      mayChange(principal);
      if (!(await deleteRetention(store, principal, tenant))) throw none(tenant);
      return reply.code(204).send();
    },
  }),
];
