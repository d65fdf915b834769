import { holdIdOf, type Invocation } from '@capstan/contracts';
import { listHoldEntries } from '@capstan/store/hold';
import type { GatewayContext } from '../gateway-context.js';

/** The comment of the rejection. A model that is told the reason can try something else. */
export async function whyRejected(
  { store }: GatewayContext,
  { invocation_id, status }: Invocation,
): Promise<string | null> {
  if (status !== 'rejected') return null;
  const hold_id = holdIdOf(invocation_id);
  const entries = (await listHoldEntries(store.db, [hold_id])).get(hold_id) ?? [];
  const rejection = entries.findLast(({ kind }) => kind === 'reject');
  return rejection ? `${rejection.actor} rejected the call, and it has not run: ${rejection.comment}` : null;
}
