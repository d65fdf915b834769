import {
  type HoldEntry,
  type HoldItem,
  type Json,
  type JsonObject,
  type Principal,
  whyMayNotRelease,
} from '@capstan/contracts';
import { createRedactor } from '@capstan/redact';
import type { HeldCall } from '@capstan/store';
import type { GatewayContext } from '../gateway-context.js';
import { summarize } from './summarize-hold.js';

const redactor = createRedactor({ values: [] });

const VOTES: HoldEntry['kind'][] = ['release', 'reject', 'withdraw'];

/** A hold as lists show it to whoever asks. */
export function toItem(
  gateway: Pick<GatewayContext, 'catalog'>,
  principal: Principal,
  hold: HeldCall,
  entries: HoldEntry[],
): HoldItem {
  const votes = entries.filter(({ kind }) => VOTES.includes(kind));
  return {
    ...summarize(gateway, hold),
    step_id: hold.step_id,
    inputs: preview(redacted(hold.inputs)),
    rules: hold.decision.rules ?? [],
    rule_matched: hold.decision.rule_matched,
    votes,
    can_decide: canDecide(principal, hold, votes),
  };
}

function canDecide(principal: Principal, hold: HeldCall, votes: HoldEntry[]): HoldItem['can_decide'] {
  const why = whyNot(principal, hold, votes);
  return { ok: why === null, why };
}

function whyNot(principal: Principal, hold: HeldCall, votes: HoldEntry[]): string | null {
  if (hold.status !== 'pending') return `it is ${hold.status} already`;
  const refused = whyMayNotRelease(hold.approvals, hold.actor, principal);
  if (refused !== null) return refused;
  const voted = votes.some(({ kind, actor, counts }) => kind === 'release' && counts && actor === principal.actor);
  return voted ? 'you have agreed to it; it waits for others' : null;
}

/** Whoever decides needs to see what is asked for, not the secrets in it. */
export function redacted(inputs: JsonObject): JsonObject {
  const clean = redactor.json(inputs);
  return isObject(clean) ? clean : {};
}

const MAX_TEXT = 200;
const MAX_MEMBERS = 20;
const MAX_DEPTH = 4;

/** A list of holds stays small, however large what is asked for. */
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

const isObject = (value: Json): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
