import type { Hold, HoldEntry, Principal, SimilarHolds } from '@capstan/contracts';
import { asOfOneMoment } from '@capstan/store';
import { getHold, listDecidedHolds, listHoldEntries } from '@capstan/store/hold';
import { findChangedTool } from '@capstan/store/mcp-server';
import type { GatewayContext } from '../gateway-context.js';
import { notFound } from '../invocation/act-on.js';
import { toToolChange } from '../mcp-sources/to-mcp-server.js';
import { preview, redacted, toItem } from './hold-item.js';
import { mayReleaseAlone } from './may-release-alone.js';

export async function readHold(gateway: GatewayContext, principal: Principal, hold_id: string): Promise<Hold> {
  const { store, catalog } = gateway;
  const { hold, entries } = await asOfOneMoment(store, async (db) => ({
    hold: await getHold(db, principal.tenant, hold_id),
    entries: (await listHoldEntries(db, [hold_id])).get(hold_id) ?? [],
  }));
  if (!hold) throw notFound(hold_id);
  const descriptor = catalog.get(hold.tool_id)?.descriptor;
  const change = descriptor?.changed ? await findChangedTool(store.db, hold.tool_id) : undefined;
  return {
    ...toItem(gateway, principal, hold, entries, await mayReleaseAlone(gateway, principal, [hold])),
    inputs: redacted(hold.inputs),
    original_inputs: hold.original_inputs && redacted(hold.original_inputs),
    descriptor_hash: hold.descriptor_hash,
    policy_hash: hold.policy_hash,
    effects: descriptor?.effects ?? null,
    side_effects: descriptor?.side_effects ?? [],
    session_id: hold.session_id,
    labels: hold.labels,
    comments: ofKind(entries, 'comment'),
    changes: ofKind(entries, 'edit', 'return'),
    approval: hold.approval,
    ...(change ? { tool_change: toToolChange(change) } : {}),
  };
}

const ofKind = (entries: HoldEntry[], ...kinds: HoldEntry['kind'][]) =>
  entries.filter(({ kind }) => kinds.includes(kind));

const MAX_SIMILAR = 20;

/** Earlier decisions about the same tool, and how those calls ended. */
export async function readSimilar(
  { store }: GatewayContext,
  principal: Principal,
  hold_id: string,
): Promise<SimilarHolds> {
  const hold = await getHold(store.db, principal.tenant, hold_id);
  if (!hold) throw notFound(hold_id);
  const { counts, items } = await listDecidedHolds(store.db, hold, MAX_SIMILAR);
  return {
    counts,
    items: items.map(({ inputs, ...decided }) => ({
      ...decided,
      inputs: preview(redacted(inputs)),
      differs: differences(hold.inputs, inputs),
    })),
  };
}

function differences(here: Record<string, unknown>, there: Record<string, unknown>): string[] {
  const names = new Set([...Object.keys(here), ...Object.keys(there)]);
  return [...names].filter((name) => JSON.stringify(here[name]) !== JSON.stringify(there[name])).sort();
}
