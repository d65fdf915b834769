import { setTimeout as delay } from 'node:timers/promises';
import type { Answers, Descriptor, JsonObject, NewMcpServer, Question } from '@capstan/contracts';
import type { Redactor } from '@capstan/redact';
import {
  CLIENT_CAPABILITIES_META_KEY,
  type Client,
  isInputRequiredResult,
  LOG_LEVEL_META_KEY,
  type RequestOptions,
} from '@modelcontextprotocol/client';
import { z } from 'zod';
import type { Call, RunOutcome } from '../runner.js';
import type { CallLog } from './call-log.js';
import { capabilitiesFor } from './connection.js';
import { toMethodOutcome, toOutcome } from './to-outcome.js';
import { cancelTask, followTask, McpState, taskIn, toState } from './upstream-task.js';

type McpBinding = Extract<Descriptor['binding'], { kind: 'mcp' }>;
export type Using = { call: Call; client: Client; config: NewMcpServer; log: CallLog; redact: Redactor };
type Answer = Record<string, unknown>;

const Loose = z.looseObject({});
const TASK_TTL_MS = 3_600_000;
const MAX_ROUNDS = 20;
const ROUND_MS = 250;
const UNENDING: RunOutcome = {
  ...{ success: false, kind: 'MCP_SERVER_FAILED', retryable: false },
  error: `the server wanted to be called again more than ${MAX_ROUNDS} times`,
};

/**
 * One request of a tool's, from where an earlier attempt left it: a task that is followed, a question that was answered, or
 * the beginning.
 */
export async function callServer(using: Using, binding: McpBinding): Promise<RunOutcome> {
  const { call } = using;
  const resumed = await call.resumed();
  const state = McpState.safeParse(resumed?.state).data ?? {};
  const answers = resumed?.answers ?? null;
  if (state.task_id !== undefined) return follow(using, state.task_id, answers);
  let answer = await send(using, binding, { answers, request_state: state.request_state });
  for (let round = 1; isInputRequiredResult(answer); round++) {
    const question = questionOf(answer.inputRequests);
    if (Object.keys(question.requests).length > 0) return ask(using, question, answer.requestState);
    // It only wants to be called again with its state: that it is not done yet.
    if (round > MAX_ROUNDS) return { ...UNENDING };
    await delay(ROUND_MS, undefined, { signal: call.signal });
    answer = await send(using, binding, { answers: null, request_state: answer.requestState });
  }
  const task_id = taskIn(answer);
  if (task_id === null)
    return binding.method === undefined
      ? toOutcome(call, answer, using.redact)
      : toMethodOutcome(call, answer, using.redact);
  await call.checkpoint(toState({ task_id }), true);
  return follow(using, task_id, null);
}

type Going = { answers: Answers | null; request_state: string | undefined };

async function send(using: Using, { tool, method, task }: McpBinding, going: Going): Promise<Answer> {
  const { call, client, config, log } = using;
  const isModern = client.getProtocolEra() === 'modern';
  const options: RequestOptions = {
    // When the signal aborts, the SDK tells the server and rejects at once.
    signal: call.signal,
    timeout: requestTimeout(call),
    onprogress: log.progress,
    allowInputRequired: true,
  };
  const more = {
    ...(going.answers ? { inputResponses: going.answers } : {}),
    ...(going.request_state === undefined ? {} : { requestState: going.request_state }),
    _meta: { ...traced(call), ...(isModern ? metaFor(call, config) : {}) },
  };
  if (method !== undefined) return client.request({ method, params: { ...call.inputs, ...more } }, Loose, options);
  const params = { name: tool, arguments: call.inputs, ...more };
  if (!isModern && task === 'required')
    return client.request({ method: 'tools/call', params: { ...params, task: { ttl: TASK_TTL_MS } } }, Loose, options);
  // With its definition at hand, the SDK sends what belongs into headers there.
  const toolDefinition = { name: tool, inputSchema: { ...call.descriptor.input_schema, type: 'object' as const } };
  return client.callTool(params, { ...options, toolDefinition });
}

/** As the conventions for MCP say it: servers find the trace in `_meta`. */
const traced = ({ traceparent }: Call) => (traceparent === undefined ? {} : { traceparent });

/** What the caller of this call can be asked, beside people; and that its log is wanted. */
function metaFor({ labels }: Call, config: NewMcpServer): JsonObject {
  const { sampling, roots, ...capabilities } = capabilitiesFor(config);
  const able = new Set((labels[CALLER_ASKS] ?? '').split(' '));
  const declared = {
    ...capabilities,
    ...(sampling && able.has('sampling') ? { sampling } : {}),
    ...(roots && able.has('roots') ? { roots } : {}),
  };
  return { [CLIENT_CAPABILITIES_META_KEY]: JSON.parse(JSON.stringify(declared)), [LOG_LEVEL_META_KEY]: 'info' };
}

/** The label by which the gateway says what the MCP client that made a call can be asked. */
export const CALLER_ASKS = 'mcp.asks';

async function follow(using: Using, task_id: string, answers: Answers | null): Promise<RunOutcome> {
  const { call, client, log } = using;
  const onStatus = (message: string) => log.hear('stderr', `${message}\n`);
  try {
    const end = await followTask({ client, call, onStatus }, task_id, answers);
    if (end.kind === 'result') return toOutcome(call, end.result, using.redact);
    if (end.kind === 'asks') return ask(using, end.question, undefined, task_id);
    return { success: false, kind: 'TOOL_ERROR', error: end.error, retryable: false };
  } catch (error) {
    if (call.signal.aborted && call.signal.reason === 'cancel') await cancelTask(client, task_id).catch(() => {});
    throw error;
  }
}

async function ask(
  { call, redact }: Using,
  question: Question,
  request_state: string | undefined,
  task_id?: string,
): Promise<RunOutcome> {
  await call.checkpoint(
    toState({
      ...(request_state === undefined ? {} : { request_state }),
      ...(task_id === undefined ? {} : { task_id }),
    }),
    task_id !== undefined,
  );
  const asks = redact.json(JSON.parse(JSON.stringify(question))) as Question;
  return { success: false, kind: 'INPUT_REQUIRED', error: 'the tool asks a question', retryable: false, asks };
}

const questionOf = (inputRequests: unknown): Question => ({
  requests: JSON.parse(JSON.stringify(inputRequests ?? {})) as Question['requests'],
});

/** The worker's own deadline comes first; this is for a worker that forgot. */
export const requestTimeout = ({ limits }: Call): number => limits.timeout_ms + 5000;
