import { hasRole, type Principal } from '@capstan/contracts';
import { type HeldCall, isAlone } from '@capstan/store/hold';
import type { GatewayContext } from '../gateway-context.js';
import { isOwn } from './hold-item.js';

/**
 * Somebody who has just installed Capstan for themselves has nobody to ask for approval. With `solo_release`, an admin may release
 * their own calls until there is a second person, and the record says so.
 */
export async function mayReleaseAlone(
  { store, solo_release }: Pick<GatewayContext, 'store' | 'solo_release'>,
  principal: Principal,
  holds: readonly HeldCall[],
): Promise<boolean> {
  if (!solo_release || !hasRole(principal, 'admin') || !holds.some((hold) => isOwn(principal, hold))) return false;
  return isAlone(store.db, principal.tenant, principal.actor);
}
