import { type AnsweredCall, parseToolCalls, resultText, toMessages } from '@capstan/catalog';
import {
  Failure,
  type Invocation,
  isObject,
  type JsonObject,
  type Principal,
  type Provider,
  type ProviderCall,
  type ToolCallAnswer,
  type ToolCallOutcome,
  type ToolCallRequest,
} from '@capstan/contracts';
import { getInvocation } from '@capstan/store/invocation';
import type { GatewayContext } from '../gateway-context.js';
import { whyRejected } from '../hold/why-rejected.js';
import { submit } from '../invocation/submit.js';
import { createFindTool, type FindTool } from './find-tool.js';

const MAX_CALLS = 128;

/** A call of one of our tools: its invocation, or the reason why there is none. */
type Handled = {
  call: ProviderCall;
  tool_id: string | null;
  invocation: Invocation | null;
  refused: Failure | string | null;
  warnings: string[];
};

/**
 * Parses a model's response, submits its calls at once and reports the outcome of each. An error in one call is reported to the model
 * in the answer to that call and does not affect the others.
 */
export async function answerToolCalls(
  gateway: GatewayContext,
  principal: Principal,
  request: ToolCallRequest,
  wait_ms: number,
): Promise<ToolCallAnswer> {
  const { format, calls } = parseToolCalls(request.provider, request.response);
  if (calls.length > MAX_CALLS)
    throw new Failure('INVALID_REQUEST', {
      detail: `response: ${calls.length} calls; at most ${MAX_CALLS} are accepted at once.`,
    });
  const findTool = await createFindTool(gateway, principal, request.agent_id);
  const ours = calls.filter((call) => !call.by_provider);
  const handled = await Promise.all(
    ours.map((call, place) => handle(gateway, principal, { call, place, findTool, format, request, wait_ms })),
  );
  rethrowOutage(handled);
  return {
    calls: calls.map((call) =>
      toOutcome(
        call,
        handled.find((one) => one.call === call),
      ),
    ),
    invocations: handled.flatMap(({ invocation }) => invocation ?? []),
    messages: wait_ms > 0 ? toMessages(format, handled.map(toAnswer)) : [],
  };
}

type Asked = {
  call: ProviderCall;
  place: number;
  findTool: FindTool;
  format: Provider;
  request: ToolCallRequest;
  wait_ms: number;
};

async function handle(gateway: GatewayContext, principal: Principal, asked: Asked): Promise<Handled> {
  const { call, findTool, wait_ms } = asked;
  const refuse = (refused: Failure | string, tool_id: string | null = null): Handled => ({
    call,
    tool_id,
    invocation: null,
    refused,
    warnings: [],
  });
  if (call.problem !== null) return refuse(`${call.name}: ${call.problem}.`);
  const tool = findTool(call.name);
  if ('problem' in tool) return refuse(tool.problem);
  const inputs = toInputs(call, tool.defaults);
  const warnings = gateway.catalog.get(tool.tool_id)?.prepare(inputs).warnings ?? [];
  const known = { call, tool_id: tool.tool_id, warnings };
  try {
    const submission = toSubmission(asked, tool.tool_id, inputs);
    const { invocation } = await submit(gateway, principal, submission, wait_ms);
    return { ...known, invocation, refused: await whyRejected(gateway, invocation) };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { ...known, invocation: await onRecord(gateway, principal, error), refused: error };
  }
}

/** The model's arguments take precedence over the defaults of its agent. */
function toInputs({ arguments: given }: ProviderCall, defaults: JsonObject): JsonObject {
  const inputs = isObject(given) ? given : {};
  return Object.keys(defaults).length > 0 ? { ...defaults, ...inputs } : inputs;
}

function toSubmission({ place, format, request }: Asked, tool_id: string, inputs: JsonObject): JsonObject {
  const { session_id, agent_id, idempotency_key } = request;
  return {
    tool_id,
    inputs,
    labels: { provider: format, ...(agent_id === undefined ? {} : { agent_id }) },
    ...(session_id === undefined ? {} : { session_id }),
    ...(idempotency_key === undefined ? {} : { idempotency_key: `${idempotency_key}:${place}` }),
  };
}

/** A denied call has an invocation, too. */
async function onRecord(
  { store }: GatewayContext,
  { tenant }: Principal,
  failure: Failure,
): Promise<Invocation | null> {
  const { invocation_id } = failure.context;
  if (failure.kind !== 'POLICY_DENIED' || typeof invocation_id !== 'string') return null;
  return (await getInvocation(store.db, tenant, invocation_id)) ?? null;
}

/** An outage is an error of the request, not of a call. But if some calls were committed, they have to be answered. */
function rethrowOutage(handled: Handled[]): void {
  const outage = handled.find(({ refused }) => refused instanceof Failure && refused.status >= 500)?.refused;
  if (outage instanceof Failure && handled.every(({ invocation }) => invocation === null)) throw outage;
}

/** Includes warnings about ignored inputs; otherwise the model would believe that they had an effect. */
function toAnswer({ call, invocation, refused, warnings }: Handled): AnsweredCall {
  if (refused !== null || !invocation) return { call, result: { text: refusalText(refused), ok: false } };
  const { text, ok } = resultText(invocation);
  return { call, result: { text: [text, ...warnings.map((warning) => `[WARNING: ${warning}]`)].join('\n'), ok } };
}

function refusalText(refused: Failure | string | null): string {
  if (!(refused instanceof Failure)) return `Error: ${refused ?? 'the call was not taken'}`;
  const said = refused.message.endsWith('.') ? refused.message : `${refused.message}.`;
  return `${refused.kind === 'POLICY_DENIED' ? '[DENIED]' : 'Error:'} ${said} ${refused.suggestion}`;
}

function toOutcome(call: ProviderCall, handled: Handled | undefined): ToolCallOutcome {
  if (!handled) return { ...call, tool_id: null, invocation_id: null, status: 'provider', error: null, warnings: [] };
  const { tool_id, invocation, refused, warnings } = handled;
  return {
    ...call,
    tool_id,
    invocation_id: invocation?.invocation_id ?? null,
    status: invocation?.status ?? 'refused',
    error: refused instanceof Failure ? refused.message : refused,
    warnings,
  };
}
