import { DEFAULT_TENANT, Failure, NewRetention, type Principal, pageOf, Retention } from '@capstan/contracts';
import { deleteRetention, getRetention, listRetentions, putRetention } from '@capstan/store';
import { AllQuery, pageOfAll } from '../http/page-of-all.js';
import { type Route, route } from '../http/route.js';

const READERS: Route['roles'] = ['admin', 'operate', 'audit'];

/** Who could shorten what is kept of them could make a record of themselves disappear. */
function mayChange({ tenant }: Principal): void {
  if (tenant !== DEFAULT_TENANT)
    throw new Failure('TENANT_FORBIDDEN', { detail: 'Only an admin of the default tenant says for how long is kept.' });
}

const maySee = ({ tenant }: Principal, of: string): boolean => tenant === DEFAULT_TENANT || tenant === of;

const none = (tenant: string): Failure =>
  new Failure('NOT_FOUND', {
    detail: `${tenant} has no retention of its own.`,
    suggestion: 'What the installation keeps applies: CAPSTAN_RETENTION_DAYS of the coordinator.',
  });

export const retentionRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/retention',
    summary: 'For how long tenants keep what ended; the installation for those that are not named',
    roles: READERS,
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
    summary: 'For how long a tenant keeps what ended',
    roles: READERS,
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
    summary: 'Keep what ended of a tenant for so long, by how it ended; what is older goes at once',
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
    summary: 'Keep for a tenant what the installation keeps',
    roles: ['admin'],
    answers: { 204: { description: 'It is as for all others' } },
    handle: async ({ store }, { principal, params: { tenant = '' }, reply }) => {
      mayChange(principal);
      if (!(await deleteRetention(store, principal, tenant))) throw none(tenant);
      return reply.code(204).send();
    },
  }),
];
