import { Failure, type Invocation, isObject, isTerminal, type JsonObject } from '@capstan/contracts';
import type { HeldCall } from '@capstan/store/hold';
import { getInvocation } from '@capstan/store/invocation';
import {
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type Result,
} from '@modelcontextprotocol/server';
import type { GatewayContext } from '../gateway-context.js';
import { cancel } from '../invocation/act-on.js';
import { submit } from '../invocation/submit.js';
import { questionId, requestsFor, takeAnswers } from './ask-client.js';
import { declares, type Exchange, sessionIdOf, TASKS_EXTENSION, toolsetLabels } from './exchange.js';
import { type Followed, followCall } from './follow-call.js';
import { type ListedTool, resolveTool } from './list-tools.js';
import { toModernTask, toTask } from './tasks.js';
import { toldAs } from './tell-progress.js';
import { protocolErrorIn, toCallResult, toRefusal } from './to-call-result.js';

/** The longest wait for a client that gets progress notifications. Without them, clients give up after a minute. */
const MAX_MS = 900_000;
/** For clients that support tasks: a call that takes longer than this becomes a task. */
const TASK_AFTER_MS = 10_000;
/** How long to wait for a first question before a tool that requires tasks becomes one. This saves the client a round trip. */
const FIRST_QUESTION_MS = 500;

export async function callTool(gateway: GatewayContext, exchange: Exchange): Promise<Result> {
  const { params, visit, is_modern } = exchange;
  const tool = resolveTool(gateway, visit, String(params.name ?? ''));
  if (!tool)
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${JSON.stringify(params.name)}.`);
  const { task, entry } = tool;
  const canTask = is_modern && declares(exchange, 'extensions', TASKS_EXTENSION);
  if (task === 'required' && is_modern && !canTask)
    throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } });
  const wantsTask = !is_modern && isObject(params.task);
  const args = isObject(params.arguments) ? params.arguments : {};
  try {
    const invocation = await beginCall(gateway, exchange, entry.descriptor.tool_id, args);
    if (wantsTask) return { task: toTask(invocation) };
    const settled = await settleCall(gateway, exchange, invocation, { task, can_be_task: canTask });
    return settled.kind === 'answer' ? settled.result : await endOf(gateway, exchange, settled.invocation);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    if (wantsTask) throw new ProtocolError(ProtocolErrorCode.InvalidRequest, `${error.message} ${error.suggestion}`);
    return toRefusal(error);
  }
}

/** Submits a new call, or returns the one that an earlier round of this request started. */
export async function beginCall(
  gateway: GatewayContext,
  exchange: Exchange,
  tool_id: string,
  inputs: JsonObject,
): Promise<Invocation> {
  const { principal } = exchange.visit;
  if (exchange.request_state === undefined)
    return (await submit(gateway, principal, { tool_id, inputs, ...contextOf(exchange) }, 0)).invocation;
  const known = await getInvocation(gateway.store.db, principal.tenant, callIn(exchange.request_state));
  if (!known || known.tool_id !== tool_id || known.actor !== principal.actor) throw badState();
  return known;
}

/** The labels let a later `notifications/cancelled` find the call from any gateway. */
function contextOf(exchange: Exchange) {
  const { session, toolset } = exchange.visit;
  const asks = ['sampling', 'roots'].filter((what) => declares(exchange, what));
  const labels = {
    ...toolsetLabels(toolset),
    ...(session ? requestLabels(session.session_id, exchange.id) : {}),
    ...(asks.length > 0 ? { 'mcp.asks': asks.join(' ') } : {}),
  };
  return { labels, session_id: sessionIdOf(exchange) };
}

export const requestLabels = (session: string, requestId: string | number): Record<string, string> => ({
  'mcp.session': session,
  'mcp.request': JSON.stringify(requestId),
});

/** `answer`: the client continues from here; `over`: the call has ended, or the client's waiting time is up. */
type Settled = { kind: 'answer'; result: Result } | { kind: 'over'; invocation: Invocation };
type Tasks = { task: ListedTool['task']; can_be_task: boolean };

/** Follows a call until it ends, has a question for this client, or becomes a task. */
export async function settleCall(
  gateway: GatewayContext,
  exchange: Exchange,
  invocation: Invocation,
  { task, can_be_task }: Tasks,
): Promise<Settled> {
  const { principal, signal } = exchange.visit;
  const isFirst = exchange.request_state === undefined;
  const asTask = (current: Invocation): Settled => ({ kind: 'answer', result: toModernTask(current) });
  if (can_be_task && task === 'optional' && isFirst) return asTask(invocation);
  const onLine = toldAs(exchange);
  const wait_ms = 'progressToken' in exchange.meta ? MAX_MS : gateway.mcp_wait_ms;
  // A held call sends no progress, so the client would give up.
  const held_ends = performance.now() + gateway.mcp_wait_ms;
  const task_ms = task === 'required' ? (isFirst ? FIRST_QUESTION_MS : 0) : TASK_AFTER_MS;
  const ends = performance.now() + (can_be_task ? Math.min(task_ms, wait_ms) : wait_ms);
  const asked = new Set<string>();
  let unused = Object.keys(exchange.answers).length > 0;
  const news = (hold: HeldCall) =>
    Object.entries(requestsFor(exchange, hold)).filter(([key]) => !asked.has(questionId(hold, key)));
  const stopsAt = ({ hold }: Followed) =>
    hold !== null &&
    (unused || news(hold).length > 0 || (can_be_task && !hold.question) || performance.now() >= held_ends);

  for (;;) {
    const for_ms = Math.max(0, ends - performance.now());
    const followed = await followCall(gateway, invocation, { principal, signal, for_ms, onLine, stopsAt });
    const { invocation: current, hold } = followed;
    if (isTerminal(current.status)) return { kind: 'over', invocation: current };
    if (signal.aborted) {
      // The client has disconnected and has no more use for the call.
      await cancel(gateway, principal, { invocation_id: current.invocation_id });
      return { kind: 'over', invocation: current };
    }
    if (hold && unused) {
      unused = false;
      await takeAnswers(gateway, principal, hold, exchange.answers);
      continue;
    }
    const requests = hold && !gateway.stopping.aborted ? news(hold) : [];
    // An approval may take long and may be given elsewhere, so a client that supports tasks follows it as a task.
    if (can_be_task && (!hold?.question || requests.length === 0)) return asTask(current);
    if (!hold || requests.length === 0) return { kind: 'over', invocation: current };
    if (exchange.is_modern)
      return { kind: 'answer', result: inputRequired(current, hold, Object.fromEntries(requests)) };
    for (const [key, { method, params = {} }] of requests) {
      asked.add(questionId(hold, key));
      await exchange.ask(questionId(hold, key), method, params);
    }
  }
}

function endOf(gateway: GatewayContext, exchange: Exchange, invocation: Invocation): Promise<Result> {
  const error = protocolErrorIn(invocation);
  // A missing capability is an error for the client. Everything else goes to its model as a result.
  if (error?.code === ProtocolErrorCode.MissingRequiredClientCapability)
    throw new ProtocolError(error.code, error.message, error.data);
  return toCallResult(gateway, exchange.visit, invocation);
}

/** The state is the call's id and its round. Only the caller can continue the call, so the state needs no protection. */
const inputRequired = (
  { invocation_id }: Invocation,
  { round }: HeldCall,
  inputRequests: ReturnType<typeof requestsFor>,
): Result => ({ resultType: 'input_required', inputRequests, requestState: `${invocation_id}.${round}` });

const callIn = (state: string): string => /^([\w-]+)\.\d+$/.exec(state)?.[1] ?? '';

const badState = () =>
  new ProtocolError(ProtocolErrorCode.InvalidParams, 'Invalid or expired requestState', {
    reason: 'invalid_request_state',
  });
