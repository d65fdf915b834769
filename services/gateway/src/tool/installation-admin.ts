import { DEFAULT_TENANT, Failure, type Principal } from '@capstan/contracts';
import type { GatewayContext } from '../gateway-context.js';

/** All tenants share the tools, so only admins of the installation change them. Policy says which tenant may use which. */
export function requireInstallationAdmin({ tenant }: Principal): void {
  if (tenant !== DEFAULT_TENANT)
    throw new Failure('TENANT_FORBIDDEN', { detail: 'Only an admin of the default tenant changes tools.' });
}

/** After a change of tools: updates this process before the answer is sent, and the others by signal. */
export async function announceTools({ relay, catalog }: Pick<GatewayContext, 'relay' | 'catalog'>): Promise<void> {
  relay.publish('refresh', ['tools']);
  await catalog.refresh();
}
