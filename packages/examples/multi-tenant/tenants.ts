import { type Client, createClient } from '@capstan/client';

export type Plan = 'free' | 'pro';

const PLANS = {
  free: { quota: { calls_per_day: 3, on_exceed: 'deny' }, tools: ['cap:test_math:add', 'cap:test_math:subtract'] },
  pro: { quota: { calls_per_minute: 600, max_concurrent: 50, on_exceed: 'defer' }, tools: ['cap:test_math:*'] },
} as const;

/** Sets up a tenant: what it may call, how much of it, and a key that can do nothing but submit. */
export async function addTenant(admin: Client, url: string, tenant: string, plan: Plan): Promise<Client> {
  const { quota, tools } = PLANS[plan];
  // A tenant's policy is the one named after it. What no rule allows is denied.
  await admin.policies.put(tenant, {
    version: '1.0',
    boundary: 'deny_by_default',
    rules: [{ id: `${plan}-plan`, effect: 'allow', match: { tool: tools } }],
  });
  await admin.quotas.set(`tenant:${tenant}`, quota);
  const { key } = await admin.keys.create({ tenant, actor: 'backend', roles: ['submit'] });
  return createClient({ url, key }); // keep the key among your own secrets: it is shown this once
}
