import {
  type Answers,
  Failure,
  isObject,
  type JsonObject,
  type Principal,
  type QuestionRequest,
} from '@capstan/contracts';
import { getHold, type HeldCall } from '@capstan/store/hold';
import type { GatewayContext } from '../gateway-context.js';
import { answer, reject, release, withdraw } from '../hold/decide-hold.js';
import { declares, type Exchange, takesForms } from './exchange.js';

/** Requests to a client about a waiting call, by the keys of their answers. */
export type Requests = Record<string, QuestionRequest>;

const CONFIRM = 'capstan_confirm';
const DECIDE = 'capstan_decide';

/**
 * The requests of a hold that this client can answer: the questions of its tool; the caller's own approval, if the policy accepts
 * that; or to open the page where the hold is decided.
 */
export function requestsFor(exchange: Exchange, hold: HeldCall): Requests {
  const requests = Object.entries(askable(exchange, hold));
  return Object.fromEntries(requests.map(([key, request]) => [key, inEraOf(exchange, hold, key, request)]));
}

function askable(exchange: Exchange, hold: HeldCall): Requests {
  const { principal, base_url } = exchange.visit;
  if (hold.question) {
    const open = Object.entries(hold.question.requests).filter(([key]) => !(key in (hold.answers ?? {})));
    return Object.fromEntries(open.filter(([, request]) => canAnswer(exchange, request)));
  }
  const reason = `${hold.tool_id} waits for an agreement: ${hold.decision.reason}`;
  if (hold.approvals.allow_self && hold.actor === principal.actor && takesForms(exchange))
    return { [CONFIRM]: { method: 'elicitation/create', params: { message: reason, requestedSchema: AGREEMENT } } };
  // Somebody who has seen the link may still have to decide there.
  if (!declares(exchange, 'elicitation', 'url') || DECIDE in exchange.answers) return {};
  const url = `${base_url}/holds/${hold.hold_id}`;
  return { [DECIDE]: { method: 'elicitation/create', params: { mode: 'url', message: reason, url } } };
}

/** Only the older protocol has an id for each link, and requires it. */
function inEraOf({ is_modern }: Exchange, hold: HeldCall, key: string, request: QuestionRequest): QuestionRequest {
  const { params } = request;
  if (is_modern || params?.mode !== 'url' || params.elicitationId !== undefined) return request;
  return { ...request, params: { ...params, elicitationId: questionId(hold, key) } };
}

const AGREEMENT: JsonObject = {
  type: 'object',
  properties: { agree: { type: 'boolean', title: 'Run it', description: 'Whether the call may run as it is' } },
  required: ['agree'],
};

function canAnswer(exchange: Exchange, { method, params }: QuestionRequest): boolean {
  if (method === 'sampling/createMessage') return declares(exchange, 'sampling');
  if (method === 'roots/list') return declares(exchange, 'roots');
  if (method !== 'elicitation/create') return false;
  return params?.mode === 'url' ? declares(exchange, 'elicitation', 'url') : takesForms(exchange);
}

/** Applies the answers of a client. Answers to questions that are not open are ignored. */
export async function takeAnswers(
  gateway: GatewayContext,
  principal: Principal,
  hold: HeldCall,
  answers: Answers,
): Promise<void> {
  const { hold_id } = hold;
  const confirmed = answers[CONFIRM];
  if (hold.question) {
    const asked = hold.question.requests;
    const good = Object.entries(answers).filter(([key, given]) => isAnswerTo(asked[key], given));
    if (good.length > 0) await answer(gateway, principal, hold_id, Object.fromEntries(good)).catch(asksAgain);
  } else if (confirmed) {
    const { content } = confirmed;
    const agrees = confirmed.action === 'accept' && isObject(content) && content.agree === true;
    if (agrees) await release(gateway, principal, hold_id, {});
    else if (confirmed.action !== 'cancel') await withdraw(gateway, principal, hold_id, 'the caller did not agree');
  }
}

/** An answer that does not fit its form leaves the question open. */
const asksAgain = (error: unknown): void => {
  if (!(error instanceof Failure)) throw error;
};

/** A malformed answer is ignored, so that its question stays open. */
function isAnswerTo(request: QuestionRequest | undefined, given: JsonObject): boolean {
  switch (request?.method) {
    case 'elicitation/create':
      if (given.action !== 'accept') return given.action === 'decline' || given.action === 'cancel';
      return request.params?.mode === 'url' || isObject(given.content);
    case 'sampling/createMessage':
      return typeof given.model === 'string' && given.content !== undefined;
    case 'roots/list':
      return Array.isArray(given.roots);
    default:
      return false;
  }
}

/** The id of a request to a client of the 2025 protocol. It carries everything that any gateway needs to apply the answer. */
export const questionId = ({ hold_id, round }: HeldCall, key: string): string => JSON.stringify([hold_id, round, key]);

type ClientAnswer = { id: unknown; result?: unknown; error?: unknown };

/** Applies an answer that came in a request of its own. An answer to an earlier round, or to no question, is dropped. */
export async function takeClientAnswer(
  gateway: GatewayContext,
  principal: Principal,
  { id, result, error }: ClientAnswer,
): Promise<void> {
  const [hold_id, round, key] = readId(id);
  const hold = hold_id === undefined ? undefined : await getHold(gateway.store.db, principal.tenant, hold_id);
  if (hold?.status !== 'pending' || hold.round !== round || hold.actor !== principal.actor) return;
  try {
    if (isObject(result) && key !== undefined) await takeAnswers(gateway, principal, hold, { [key]: result });
    else if (error !== undefined && hold.question) await reject(gateway, principal, hold.hold_id, messageOf(error));
  } catch (failure) {
    // Somebody else has decided or answered first.
    if (!(failure instanceof Failure)) throw failure;
  }
}

function readId(id: unknown): [string?, number?, string?] {
  try {
    const parts: unknown = typeof id === 'string' ? JSON.parse(id) : null;
    if (!Array.isArray(parts)) return [];
    const [hold_id, round, key]: unknown[] = parts;
    return typeof hold_id === 'string' && typeof round === 'number' && typeof key === 'string'
      ? [hold_id, round, key]
      : [];
  } catch {
    return [];
  }
}

const messageOf = (error: unknown): string =>
  `the client answered with an error: ${isObject(error) && typeof error.message === 'string' ? error.message : 'unknown'}`;
