import { CLOSED_INSTALLATION, DEFAULT_TENANT, INSTALLATION_POLICY, type PolicyDocument } from '@capstan/contracts';
import type { Store } from '@capstan/store';
import { ensurePolicy, latestPolicy } from '@capstan/store/policy';

/**
 * On a machine without a working sandbox, the tenant `default` may run what its own policy allows without one: LOW risk by default.
 * Its admin owns the machine and could allow it anyway, and the first tool should not fail on a plain laptop.
 */
const WITHOUT_SANDBOX: PolicyDocument = {
  ...CLOSED_INSTALLATION,
  limits: [{ match: { tenant: DEFAULT_TENANT }, sandbox: 'preferred' }],
};

/** Writes the installation's policy on the first start. Returns true if that policy allows tools without a sandbox, because none works. */
export async function ensureInstallationPolicy(store: Store, canContain: () => Promise<boolean>): Promise<boolean> {
  if (await latestPolicy(store.db, INSTALLATION_POLICY)) return false;
  const is_contained = await canContain();
  await ensurePolicy(store, INSTALLATION_POLICY, is_contained ? CLOSED_INSTALLATION : WITHOUT_SANDBOX);
  return !is_contained;
}
