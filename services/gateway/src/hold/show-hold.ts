import type { Hold, HoldEntry, JsonObject, Principal } from '@capstan/contracts';
import { createRedactor } from '@capstan/redact';
import { asOfOneMoment, getHold, listHoldEntries } from '@capstan/store';
import type { GatewayContext } from '../gateway-context.js';
import { notFound } from '../invocation/act-on.js';
import { summarize } from './summarize-hold.js';

const redactor = createRedactor({ values: [] });

export async function readHold(gateway: GatewayContext, principal: Principal, hold_id: string): Promise<Hold> {
  const { store, catalog } = gateway;
  const { hold, entries } = await asOfOneMoment(store, async (db) => ({
    hold: await getHold(db, principal.tenant, hold_id),
    entries: await listHoldEntries(db, hold_id),
  }));
  if (!hold) throw notFound(hold_id);
  const descriptor = catalog.get(hold.tool_id)?.descriptor;
  const { decision } = hold;
  return {
    ...summarize(gateway, hold),
    inputs: redacted(hold.inputs),
    original_inputs: hold.original_inputs && redacted(hold.original_inputs),
    descriptor_hash: hold.descriptor_hash,
    policy_hash: hold.policy_hash,
    rules: decision.rules ?? [],
    rule_matched: decision.rule_matched,
    effects: descriptor?.effects ?? null,
    side_effects: descriptor?.side_effects ?? [],
    session_id: hold.session_id,
    labels: hold.labels,
    votes: ofKind(entries, 'release', 'reject', 'withdraw'),
    comments: ofKind(entries, 'comment'),
    changes: ofKind(entries, 'edit', 'return'),
    approval: hold.approval,
  };
}

const ofKind = (entries: HoldEntry[], ...kinds: HoldEntry['kind'][]) =>
  entries.filter(({ kind }) => kinds.includes(kind));

/** Whoever decides needs to see what is asked for, not the secrets in it. */
function redacted(inputs: JsonObject): JsonObject {
  const clean = redactor.json(inputs);
  return typeof clean === 'object' && clean !== null && !Array.isArray(clean) ? clean : {};
}
