import { CLOSED_INSTALLATION, type PolicyDocument } from '@capstan/contracts';
import { hashJson } from '@capstan/integrity';
import { nanoid } from 'nanoid';
import { expect, test } from 'vitest';
import { insertPlanRun } from '../plan/insert-plan-run.js';
import { ensurePolicy, runPolicyName } from '../policy/policies.js';
import { openTestStore } from '../testing/open-test-store.js';
import { policyInForce } from './policy-in-force.js';

const store = await openTestStore();
const document = (id: string): PolicyDocument => ({
  boundary: 'deny_by_default',
  rules: [{ id, effect: 'allow', match: { tool: ['*'] } }],
});

test.each([
  { own_policy: true, decides: 'brought' },
  { own_policy: false, decides: 'in force' },
] as const)(
  'a run with own_policy=$own_policy is decided by the policy that is $decides',
  async ({ own_policy, decides }) => {
    const tenant = `tenant-${nanoid()}`;
    const policies = { brought: document('brought'), 'in force': document(tenant) };
    const decided_by = { ...policies, 'in force': { ...policies['in force'], installation: CLOSED_INSTALLATION } };
    const hashes = { brought: hashJson(policies.brought), 'in force': hashJson(policies['in force']) };
    // The policy was submitted with a run, by anybody.
    await ensurePolicy(store, runPolicyName(hashes.brought), policies.brought);
    await ensurePolicy(store, tenant, policies['in force']);
    const run_id = `run_${nanoid()}`;
    await insertPlanRun(store.query, {
      ...{
        run_id,
        tenant,
        actor: 'ann',
        roles: ['submit'],
        name: null,
        plan: { steps: [] },
        plan_hash: hashJson(null),
      },
      ...{ policy_hash: hashes.brought, own_policy, inputs: {}, max_parallel: null, webhook_url: null, steps: [] },
    });
    expect((await policyInForce(store.db, { tenant, run_id }))?.document).toEqual(decided_by[decides]);
  },
);
