import { DEFAULT_TENANT, Failure, type Principal } from '@capstan/contracts';
import type { GatewayContext } from '../gateway-context.js';

/** Tools are the installation's, so only its own admins change them; policy says which tenant may use which. */
export function requireInstallationAdmin({ tenant }: Principal): void {
  if (tenant !== DEFAULT_TENANT)
    throw new Failure('TENANT_FORBIDDEN', { detail: 'Only an admin of the default tenant changes tools.' });
}

/** After a change of tools: this process knows it when the answer leaves, the others in a moment. */
export async function announceTools({ relay, catalog }: Pick<GatewayContext, 'relay' | 'catalog'>): Promise<void> {
  relay.publish('refresh', ['tools']);
  await catalog.refresh();
}
