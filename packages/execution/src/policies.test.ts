import { createLog, openBackbone } from '@capstan/backbone';
import { BUILTIN_TOOLS, createCatalog } from '@capstan/catalog';
import { INSTALLATION_POLICY, type PolicyDocument } from '@capstan/contracts';
import { boundBy, keepEffective, putPolicy } from '@capstan/store/policy';
import { expect, onTestFinished, test } from 'vitest';
import { openTestStore } from '../../../packages/store/src/testing/open-test-store.js';
import { decideAgain } from './pipeline.js';
import { createPolicies } from './policies.js';
import { newClaimed } from './testing/new-claimed.js';

const ADD = 'cap:test_math:add';
const ALLOWS: PolicyDocument = { rules: [{ id: 'sums', effect: 'allow', match: { tool: ADD } }] };
const FORBIDS: PolicyDocument = { rules: [{ id: 'no-sums', effect: 'forbid', match: { tool: ADD } }] };
const OPEN: PolicyDocument = { rules: [] };
const admin = { key_id: 'key_1', tenant: 'default', actor: 'ann', roles: ['admin' as const] };

/** A worker's view of the policies. No process of this test sends it a signal when one changes. */
async function openPolicies() {
  const store = await openTestStore();
  const backbone = await openBackbone({
    database_url: store.url,
    name: 'policies',
    connections: 3,
    log: createLog('test', 'silent'),
  });
  onTestFinished(() => backbone.close());
  const putInstallation = (document: PolicyDocument) => putPolicy(store, admin, INSTALLATION_POLICY, document);
  await putInstallation(FORBIDS);
  const policies = await createPolicies(backbone.store, backbone.relay);
  onTestFinished(() => policies.close());
  const entry = createCatalog(BUILTIN_TOOLS).get(ADD);
  if (!entry) throw new Error(`there is no ${ADD}`);
  const decideUnder = async (installation: PolicyDocument) => {
    const { policy_hash } = await keepEffective(store.db, boundBy(ALLOWS, installation));
    const rules = { approvedSpecs: () => [], refresh: () => Promise.resolve() };
    return decideAgain({ policies, rules }, newClaimed({ policy_hash }), entry);
  };
  return { policies, putInstallation, decideUnder };
}

test('a call that a looser policy of the installation has admitted is allowed by a worker that has not heard of it', async () => {
  const { putInstallation, decideUnder } = await openPolicies();
  await putInstallation(OPEN);
  expect(await decideUnder(OPEN)).toMatchObject({ allowed: true });
});

test('a call that was admitted before the installation forbade it is denied', async () => {
  const { decideUnder } = await openPolicies();
  expect(await decideUnder(OPEN)).toMatchObject({ allowed: false, decided_by: 'installation' });
});
