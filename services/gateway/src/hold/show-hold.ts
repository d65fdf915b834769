import type { Hold, HoldEntry, Principal, SimilarHolds } from '@capstan/contracts';
import { asOfOneMoment, getHold, listDecidedHolds, listHoldEntries } from '@capstan/store';
import type { GatewayContext } from '../gateway-context.js';
import { notFound } from '../invocation/act-on.js';
import { preview, redacted, toItem } from './hold-item.js';

export async function readHold(gateway: GatewayContext, principal: Principal, hold_id: string): Promise<Hold> {
  const { store, catalog } = gateway;
  const { hold, entries } = await asOfOneMoment(store, async (db) => ({
    hold: await getHold(db, principal.tenant, hold_id),
    entries: (await listHoldEntries(db, [hold_id])).get(hold_id) ?? [],
  }));
  if (!hold) throw notFound(hold_id);
  const descriptor = catalog.get(hold.tool_id)?.descriptor;
  return {
    ...toItem(gateway, principal, hold, entries),
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
  };
}

const ofKind = (entries: HoldEntry[], ...kinds: HoldEntry['kind'][]) =>
  entries.filter(({ kind }) => kinds.includes(kind));

const MAX_SIMILAR = 20;

/** What people decided of the same tool before, and what came of it. */
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
