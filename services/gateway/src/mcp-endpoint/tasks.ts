import {
  type Answers,
  Failure,
  type Invocation,
  type InvocationStatus,
  isTerminal,
  type JsonObject,
  SequenceQuery,
} from '@capstan/contracts';
import type { HeldCall } from '@capstan/store/hold';
import { listInvocations } from '@capstan/store/invocation';
import {
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type Result,
} from '@modelcontextprotocol/server';
import type { GatewayContext } from '../gateway-context.js';
import { cancel, readDetail } from '../invocation/act-on.js';
import { questionId, requestsFor, takeAnswers } from './ask-client.js';
import { declares, type Exchange, TASKS_EXTENSION } from './exchange.js';
import { type Followed, followCall, look } from './follow-call.js';
import { protocolErrorIn, toCallResult } from './to-call-result.js';

/**
 * A call as a task of the protocol. Its id is that of the invocation, so any gateway can report its status for as long as the row
 * is kept. Clients use tasks to wait for held calls, which may take a person days to decide.
 */
type TaskStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';

const POLL_MS = 1000;
/** The lifetime promised to clients; longer than any hold lasts by default. */
const TTL_MS = 24 * 3_600_000;
/** How long one request waits for the result of a task. */
const RESULT_MS = 900_000;
const LIST = 50;

/** In the format of 2025-11-25. */
export function toTask(invocation: Invocation, asks = false): JsonObject {
  const { invocation_id, created_at, finished_at } = invocation;
  return {
    taskId: invocation_id,
    status: asks ? 'input_required' : legacyStatus(invocation.status),
    statusMessage: messageOf(invocation),
    ttl: null,
    createdAt: created_at,
    lastUpdatedAt: finished_at ?? created_at,
    pollInterval: POLL_MS,
  };
}

/** In the format of the 2026-07-28 extension, in which a tool that reported an error has the status `completed`. */
export function toModernTask(invocation: Invocation, asks = false): JsonObject {
  const { invocation_id, created_at, finished_at } = invocation;
  return {
    resultType: 'task',
    taskId: invocation_id,
    status: asks ? 'input_required' : modernStatus(invocation),
    statusMessage: messageOf(invocation),
    ttlMs: TTL_MS,
    createdAt: created_at,
    lastUpdatedAt: finished_at ?? created_at,
    pollIntervalMs: POLL_MS,
  };
}

const messageOf = ({ status, decision, result }: Invocation): string =>
  status === 'held' ? `held: ${decision.reason}` : (result?.error ?? status);

const legacyStatus = (status: InvocationStatus): TaskStatus => {
  if (status === 'succeeded') return 'completed';
  if (status === 'canceled') return 'cancelled';
  return isTerminal(status) ? 'failed' : 'working';
};

const modernStatus = (invocation: Invocation): TaskStatus => {
  if (invocation.status === 'canceled') return 'cancelled';
  if (!isTerminal(invocation.status)) return 'working';
  return protocolErrorIn(invocation) ? 'failed' : 'completed';
};

/** Callers only see their own tasks, because results and questions are theirs. */
async function find(gateway: GatewayContext, { visit: { principal }, params }: Exchange): Promise<Invocation> {
  const unknown = () => new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no task ${params.taskId}.`);
  try {
    const invocation = await readDetail(gateway, principal, String(params.taskId ?? ''));
    if (invocation.actor !== principal.actor) throw unknown();
    return invocation;
  } catch (error) {
    throw error instanceof Failure ? unknown() : error;
  }
}

export const legacyTasks = {
  'tasks/get': async (gateway: GatewayContext, exchange: Exchange): Promise<Result> => {
    const { invocation, hold } = await look(gateway, exchange.visit.principal, await find(gateway, exchange));
    return toTask(invocation, hold !== null && Object.keys(requestsFor(exchange, hold)).length > 0);
  },
  'tasks/list': async ({ store }: GatewayContext, { visit: { principal }, params }: Exchange): Promise<Result> => {
    const { data: cursor, success } = SequenceQuery.shape.cursor.safeParse(params.cursor);
    if (!success) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Take the cursor from nextCursor.');
    const page = await listInvocations(store.db, principal.tenant, { actor: principal.actor }, { limit: LIST, cursor });
    const { items, next_cursor } = page;
    return { tasks: items.map((one) => toTask(one)), ...(next_cursor === null ? {} : { nextCursor: next_cursor }) };
  },
  /** Waits for the end of the call, and meanwhile asks the client the questions that it can answer. */
  'tasks/result': async (gateway: GatewayContext, exchange: Exchange): Promise<Result> => {
    const { principal, signal } = exchange.visit;
    const found = await find(gateway, exchange);
    const asked = new Set<string>();
    const ends = performance.now() + RESULT_MS;
    const news = ({ hold }: Followed) =>
      hold === null
        ? []
        : Object.entries(requestsFor(exchange, hold)).filter(([key]) => !asked.has(questionId(hold, key)));
    for (;;) {
      const for_ms = Math.max(0, ends - performance.now());
      const stopsAt = (followed: Followed) => news(followed).length > 0;
      const followed = await followCall(gateway, found, { principal, signal, for_ms, stopsAt });
      const requests = news(followed);
      if (followed.hold && requests.length > 0 && !signal.aborted && !gateway.stopping.aborted) {
        for (const [key, { method, params = {} }] of requests) {
          asked.add(questionId(followed.hold, key));
          await exchange.ask(questionId(followed.hold, key), method, params);
        }
        continue;
      }
      // The gateway stops, or the wait was long enough. Anything but an error would be taken for the result.
      if (!isTerminal(followed.invocation.status))
        throw new ProtocolError(
          ProtocolErrorCode.InternalError,
          `The task has not ended yet (${messageOf(followed.invocation)}). Ask for its result again.`,
        );
      const result = await toCallResult(gateway, exchange.visit, followed.invocation);
      const { taskId } = exchange.params;
      return { ...result, _meta: { ...result._meta, 'io.modelcontextprotocol/related-task': { taskId } } };
    }
  },
  'tasks/cancel': async (gateway: GatewayContext, exchange: Exchange): Promise<Result> => {
    const found = await find(gateway, exchange);
    if (isTerminal(found.status))
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `The task has ended: ${legacyStatus(found.status)}.`);
    return toTask({ ...(await canceled(gateway, exchange, found)), status: 'canceled' });
  },
};

const canceled = async (gateway: GatewayContext, { visit }: Exchange, found: Invocation): Promise<Invocation> => {
  await cancel(gateway, visit.principal, { invocation_id: found.invocation_id });
  return readDetail(gateway, visit.principal, found.invocation_id);
};

function requireTasks(exchange: Exchange): void {
  if (!declares(exchange, 'extensions', TASKS_EXTENSION))
    throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } });
}

/** Adds the round to the keys: a key must stand for one question during the whole task, and a hold may ask again in each round. */
const inRound = <T>({ round }: HeldCall, requests: Record<string, T>): Record<string, T> =>
  Object.fromEntries(Object.entries(requests).map(([key, request]) => [`${round}.${key}`, request]));

/** The answers of the current round. Those of earlier rounds are too late and are dropped. */
function ofRound({ round }: HeldCall, answers: Answers): Answers {
  const prefix = `${round}.`;
  const current = Object.entries(answers).filter(([key]) => key.startsWith(prefix));
  return Object.fromEntries(current.map(([key, answer]) => [key.slice(prefix.length), answer]));
}

export const modernTasks = {
  'tasks/get': async (gateway: GatewayContext, exchange: Exchange): Promise<Result> => {
    requireTasks(exchange);
    const { invocation, hold } = await look(gateway, exchange.visit.principal, await find(gateway, exchange));
    const inputRequests = hold ? inRound(hold, requestsFor(exchange, hold)) : {};
    const asks = Object.keys(inputRequests).length > 0;
    const { resultType, ...task } = toModernTask(invocation, asks);
    if (asks) return { ...task, inputRequests };
    if (!isTerminal(invocation.status) || invocation.status === 'canceled') return task;
    const error = protocolErrorIn(invocation);
    return error ? { ...task, error } : { ...task, result: await toCallResult(gateway, exchange.visit, invocation) };
  },
  'tasks/update': async (gateway: GatewayContext, exchange: Exchange): Promise<Result> => {
    requireTasks(exchange);
    const { principal } = exchange.visit;
    const { hold } = await look(gateway, principal, await find(gateway, exchange));
    const answers = hold ? ofRound(hold, exchange.answers) : {};
    if (hold && Object.keys(answers).length > 0) await takeAnswers(gateway, principal, hold, answers);
    return {};
  },
  'tasks/cancel': async (gateway: GatewayContext, exchange: Exchange): Promise<Result> => {
    requireTasks(exchange);
    const found = await find(gateway, exchange);
    if (!isTerminal(found.status)) await canceled(gateway, exchange, found);
    return {};
  },
};
