import { CLOSED_INSTALLATION, DEFAULT_TENANT, INSTALLATION_POLICY, type PolicyDocument } from '@capstan/contracts';
import { ensurePolicy, latestPolicy, type Store } from '@capstan/store';

/**
 * Where no sandbox works, the tenant `default` may still run what its own policy lets run without one: LOW risk, unless it
 * says otherwise. Its admin owns this machine and could open it anyway; the first tool should not fail on a bare laptop.
 */
const WITHOUT_SANDBOX: PolicyDocument = {
  ...CLOSED_INSTALLATION,
  limits: [{ match: { tenant: DEFAULT_TENANT }, sandbox: 'preferred' }],
};

/** The installation's policy of a first start. True when it makes up for a sandbox that is missing. */
export async function ensureInstallationPolicy(store: Store, canContain: () => Promise<boolean>): Promise<boolean> {
  if (await latestPolicy(store.db, INSTALLATION_POLICY)) return false;
  const is_contained = await canContain();
  await ensurePolicy(store, INSTALLATION_POLICY, is_contained ? CLOSED_INSTALLATION : WITHOUT_SANDBOX);
  return !is_contained;
}
