import { CLOSED_INSTALLATION, INSTALLATION_POLICY } from '@capstan/contracts';
import { latestPolicy } from '@capstan/store/policy';
import { expect, test } from 'vitest';
import { openTestStore } from '../../../packages/store/src/testing/open-test-store.js';
import { ensureInstallationPolicy } from './ensure-installation-policy.js';

test.each([
  { contained: true, document: CLOSED_INSTALLATION },
  {
    contained: false,
    document: { ...CLOSED_INSTALLATION, limits: [{ match: { tenant: 'default' }, sandbox: 'preferred' }] },
  },
])(
  'the first start writes the policy that fits the machine (sandbox works: $contained), and later starts keep it',
  async ({ contained, document }) => {
    const store = await openTestStore();
    expect(await ensureInstallationPolicy(store, async () => contained)).toBe(!contained);
    expect((await latestPolicy(store.db, INSTALLATION_POLICY))?.document).toEqual(document);
    expect(await ensureInstallationPolicy(store, async () => !contained)).toBe(false);
    expect((await latestPolicy(store.db, INSTALLATION_POLICY))?.document).toEqual(document);
  },
);
