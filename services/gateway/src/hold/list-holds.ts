import type { HoldFilter, HoldItem, HoldSort, Page, Principal } from '@capstan/contracts';
import { asOfOneMoment } from '@capstan/store';
import { listHoldEntries, listHolds } from '@capstan/store/hold';
import type { GatewayContext } from '../gateway-context.js';
import { toItem } from './hold-item.js';
import { mayReleaseAlone } from './may-release-alone.js';

type PageWanted = { limit: number; cursor?: string | undefined; sort?: HoldSort | undefined };

export async function holdsMatching(
  gateway: GatewayContext,
  principal: Principal,
  { tool_id, risk, ...filter }: HoldFilter,
  wanted: PageWanted,
): Promise<Page<HoldItem>> {
  const tool_ids = toolsOf(gateway, { tool_id, risk });
  const { page, entries } = await asOfOneMoment(gateway.store, async (db) => {
    const page = await listHolds(db, principal.tenant, { ...filter, tool_ids }, wanted);
    const hold_ids = page.items.map(({ hold_id }) => hold_id);
    return { page, entries: await listHoldEntries(db, hold_ids) };
  });
  const alone = await mayReleaseAlone(gateway, principal, page.items);
  const items = page.items.map((hold) => toItem(gateway, principal, hold, entries.get(hold.hold_id) ?? [], alone));
  return { ...page, items };
}

/** Holds have no risk of their own; the catalog knows which tools have it. */
function toolsOf({ catalog }: GatewayContext, { tool_id, risk }: HoldFilter): string[] | undefined {
  if (risk === undefined) return tool_id === undefined ? undefined : [tool_id];
  const risky = catalog.list().filter(({ descriptor }) => descriptor.risk === risk);
  const ids = risky.map(({ descriptor }) => descriptor.tool_id);
  return tool_id === undefined ? ids : ids.filter((id) => id === tool_id);
}
