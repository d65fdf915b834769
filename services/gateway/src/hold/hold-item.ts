import {
  type HoldEntry,
  type HoldItem,
  isObject,
  type Json,
  type JsonObject,
  type Principal,
  whyMayNotRelease,
} from '@capstan/contracts';
import { createRedactor } from '@capstan/redact';
import type { HeldCall } from '@capstan/store/hold';
import type { GatewayContext } from '../gateway-context.js';
import { summarize } from './summarize-hold.js';

const redactor = createRedactor({ values: [] });

const VOTES: HoldEntry['kind'][] = ['release', 'reject', 'withdraw'];

/** A hold as lists show it to this caller. */
export function toItem(
  gateway: Pick<GatewayContext, 'catalog'>,
  principal: Principal,
  hold: HeldCall,
  entries: HoldEntry[],
  alone = false,
): HoldItem {
  const votes = entries.filter(({ kind }) => VOTES.includes(kind));
  return {
    ...summarize(gateway, hold),
    step_id: hold.step_id,
    inputs: preview(redacted(hold.inputs)),
    rules: hold.decision.rules ?? [],
    rule_matched: hold.decision.rule_matched,
    votes,
    can_decide: canDecide(principal, hold, votes, alone),
  };
}

const ALONE = 'it is your own call; there is no second person yet, so you may release it, and the record says so';

function canDecide(principal: Principal, hold: HeldCall, votes: HoldEntry[], alone: boolean): HoldItem['can_decide'] {
  const excepted = alone && isOwn(principal, hold);
  const approvals = excepted ? { ...hold.approvals, allow_self: true } : hold.approvals;
  const why = whyNot(principal, { ...hold, approvals }, votes);
  return { ok: why === null, why: why ?? (excepted ? ALONE : null) };
}

/** True for the caller's own call, if the policy does not let submitters release their calls. */
export const isOwn = ({ actor }: Principal, { actor: asker, approvals }: HeldCall): boolean =>
  asker === actor && approvals.allow_self !== true;

function whyNot(principal: Principal, hold: HeldCall, votes: HoldEntry[]): string | null {
  if (hold.status !== 'pending') return `it is ${hold.status} already`;
  const refused = whyMayNotRelease(hold.approvals, hold.actor, principal);
  if (refused !== null) return refused;
  const voted = votes.some(({ kind, actor, counts }) => kind === 'release' && counts && actor === principal.actor);
  return voted ? 'you have agreed to it; it waits for others' : null;
}

/** Approvers need to see the inputs, but not the secrets in them. */
export function redacted(inputs: JsonObject): JsonObject {
  const clean = redactor.json(inputs);
  return isObject(clean) ? clean : {};
}

const MAX_TEXT = 200;
const MAX_MEMBERS = 20;
const MAX_DEPTH = 4;

/** Keeps lists of holds small, however large the inputs are. */
export function preview(inputs: JsonObject, depth = 0): JsonObject {
  const members = Object.entries(inputs);
  const shown = members.slice(0, MAX_MEMBERS).map(([name, value]): [string, Json] => [name, cut(value, depth + 1)]);
  return Object.fromEntries(members.length > MAX_MEMBERS ? [...shown, ['…', members.length - MAX_MEMBERS]] : shown);
}

function cut(value: Json, depth: number): Json {
  if (typeof value === 'string') return value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT)}…` : value;
  if (value === null || typeof value !== 'object') return value;
  if (depth >= MAX_DEPTH) return '…';
  if (!Array.isArray(value)) return preview(value, depth);
  const items = value.slice(0, MAX_MEMBERS).map((item) => cut(item, depth + 1));
  return value.length > MAX_MEMBERS ? [...items, '…'] : items;
}
