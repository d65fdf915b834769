import {
  DEFAULT_TENANT,
  Failure,
  NewQuota,
  NewQuotaScope,
  type Principal,
  pageOf,
  Quota,
  QuotaScope,
  QuotaUsage,
} from '@capstan/contracts';
import { countUsage, deleteQuota, getQuota, listQuotas, putQuota } from '@capstan/store/quota';
import type { GatewayContext } from '../gateway-context.js';
import { AllQuery, pageOfAll } from '../http/page-of-all.js';
import { OVERSEERS, type Route, route } from '../http/route.js';
import { notFound } from '../invocation/act-on.js';

function scopeOf(params: Record<string, string>, Scope: typeof QuotaScope = QuotaScope): string {
  const scope = Scope.safeParse(params.scope);
  if (scope.success) return scope.data;
  throw new Failure('INVALID_REQUEST', { detail: `scope: ${scope.error.issues[0]?.message}` });
}

/** Tenants must not raise their own limits. */
function mayChange({ tenant }: Principal): void {
  if (tenant !== DEFAULT_TENANT)
    throw new Failure('TENANT_FORBIDDEN', { detail: 'Only an admin of the default tenant sets quotas.' });
}

/** Quotas that span tenants are visible to the default tenant only. */
const maySee = ({ tenant }: Principal, scope: string): boolean =>
  tenant === DEFAULT_TENANT || scope === `tenant:${tenant}` || scope.startsWith(`actor:${tenant}/`);

const visible = async ({ store }: GatewayContext, principal: Principal): Promise<Quota[]> =>
  (await listQuotas(store.db)).filter(({ scope }) => maySee(principal, scope));

async function changed({ rules, relay }: GatewayContext): Promise<void> {
  await rules.refresh();
  relay.publish('refresh', ['quotas']);
}

export const quotaRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/quotas',
    summary: 'List quotas',
    roles: OVERSEERS,
    query: AllQuery,
    answers: { 200: { description: 'All', schema: pageOf(Quota) } },
    handle: async (gateway, { principal, query }) => pageOfAll(await visible(gateway, principal), query),
  }),
  route({
    method: 'GET',
    path: '/v1/quotas/usage',
    summary: 'List the current usage of each quota',
    roles: OVERSEERS,
    query: AllQuery,
    answers: { 200: { description: 'All', schema: pageOf(QuotaUsage) } },
    handle: async (gateway, { principal, query }) => {
      const quotas = await visible(gateway, principal);
      const counted = await countUsage(
        gateway.store.db,
        quotas.map(({ scope }) => scope),
      );
      const usages = new Map(counted.map((usage) => [usage.scope, usage]));
      const items = quotas.map(({ scope, limits, on_exceed }): QuotaUsage => {
        const usage = usages.get(scope);
        return {
          scope,
          limits,
          on_exceed,
          waiting: usage?.waiting ?? 0,
          concurrent: usage?.live ?? 0,
          calls_this_minute: usage?.minute ?? 0,
          calls_today: usage?.day ?? 0,
          runtime_ms_today: Math.round(usage?.runtime_ms ?? 0),
          cost_units_today: usage?.cost_units ?? 0,
        };
      });
      return pageOfAll(items, query);
    },
  }),
  route({
    method: 'GET',
    path: '/v1/quotas/{scope}',
    summary: 'Get a quota',
    roles: OVERSEERS,
    answers: { 200: { description: 'The quota', schema: Quota } },
    handle: async ({ store }, { principal, params }) => {
      const scope = scopeOf(params);
      const quota = maySee(principal, scope) && (await getQuota(store.db, scope));
      if (!quota) throw notFound(scope);
      return quota;
    },
  }),
  route({
    method: 'PUT',
    path: '/v1/quotas/{scope}',
    summary: 'Set the quota of a tenant, actor, tool, source or runner type, for calls submitted from now on',
    roles: ['admin'],
    body: NewQuota,
    answers: { 200: { description: 'The quota', schema: Quota } },
    handle: async (gateway, { principal, params, body }) => {
      mayChange(principal);
      const quota = await putQuota(gateway.store, principal, scopeOf(params, NewQuotaScope), body);
      await changed(gateway);
      return quota;
    },
  }),
  route({
    method: 'DELETE',
    path: '/v1/quotas/{scope}',
    summary: 'Delete a quota; calls that waited for it continue',
    roles: ['admin'],
    answers: { 204: { description: 'Deleted' } },
    handle: async (gateway, { principal, params, reply }) => {
      mayChange(principal);
      const scope = scopeOf(params);
      if (!(await deleteQuota(gateway.store, principal, scope))) throw notFound(scope);
      await changed(gateway);
      return reply.code(204).send();
    },
  }),
];
