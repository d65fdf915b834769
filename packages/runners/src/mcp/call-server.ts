import { setTimeout as delay } from 'node:timers/promises';
import {
  type Answers,
  type Descriptor,
  type JsonObject,
  type NewMcpServer,
  Question,
  toJson,
} from '@capstan/contracts';
import type { Redactor } from '@capstan/redact';
import {
  CLIENT_CAPABILITIES_META_KEY,
  type Client,
  isInputRequiredResult,
  LOG_LEVEL_META_KEY,
  type RequestOptions,
  UrlElicitationRequiredError,
} from '@modelcontextprotocol/client';
import { z } from 'zod';
import { orAborted } from '../or-aborted.js';
import type { Call, RunOutcome } from '../runner.js';
import type { CallLog } from './call-log.js';
import { capabilitiesFor } from './connection.js';
import type { ReadCache, Reading } from './read-cache.js';
import type { ResolvedServer } from './resolve-server.js';
import { subscribe } from './subscribe.js';
import { toMethodOutcome, toOutcome } from './to-outcome.js';
import { cancelTask, followTask, McpState, taskIn, toQuestion, toState } from './upstream-task.js';

type McpBinding = Extract<Descriptor['binding'], { kind: 'mcp' }>;
export type Using = {
  call: Call;
  client: Client;
  server: ResolvedServer;
  reads: ReadCache;
  log: CallLog;
  redact: Redactor;
};
type Answer = Record<string, unknown>;

const Loose = z.looseObject({});
const TASK_TTL_MS = 3_600_000;
const MAX_ROUNDS = 20;
const ROUND_MS = 250;
const UNENDING: RunOutcome = {
  ...{ success: false, kind: 'MCP_SERVER_FAILED', retryable: false },
  error: `the server wanted to be called again more than ${MAX_ROUNDS} times`,
};
const DECLINED: RunOutcome = {
  ...{ success: false, kind: 'TOOL_ERROR', retryable: false },
  error: 'the tool wants a page opened first, and that was declined',
};

/**
 * One request of a tool. It resumes where an earlier attempt stopped, with a task to follow or a question that was answered, or
 * starts from the beginning.
 */
export async function callServer(using: Using, binding: McpBinding): Promise<RunOutcome> {
  const { call } = using;
  const resumed = await call.resumed();
  const state = McpState.safeParse(resumed?.state).data ?? {};
  const answers = resumed?.answers ?? null;
  if (state.task_id !== undefined) return follow(using, state.task_id, answers);
  const reading = readingOf(using, binding);
  const kept = reading && using.reads.find(reading);
  if (kept) return toMethodOutcome(call, kept, using.redact);
  if (using.client.getProtocolEra() === 'legacy' && answers && !areAccepted(answers)) return { ...DECLINED };
  let answer = await sendOrAsk(using, binding, { answers, request_state: state.request_state });
  for (let round = 1; isInputRequiredResult(answer); round++) {
    const question = toQuestion(answer.inputRequests);
    if (Object.keys(question.requests).length > 0) {
      const { requestState: request_state } = answer;
      await call.checkpoint(toState(request_state === undefined ? {} : { request_state }), false);
      return asks(using, question);
    }
    // The server only asks to be called again with its state: it is not done yet.
    if (round > MAX_ROUNDS) return { ...UNENDING };
    await delay(ROUND_MS, undefined, { signal: call.signal });
    answer = await sendOrAsk(using, binding, { answers: null, request_state: answer.requestState });
  }
  if (reading) using.reads.keep(reading, answer);
  const task_id = taskIn(answer);
  if (task_id === null)
    return binding.method === undefined
      ? toOutcome(call, answer, using.redact)
      : toMethodOutcome(call, answer, using.redact);
  await call.checkpoint(toState({ task_id }), true);
  return follow(using, task_id, null);
}

/** The key under which the answer can be cached; null if it cannot. */
function readingOf({ call, server }: Using, { method }: McpBinding): Reading | null {
  const { uri } = call.inputs;
  if (method !== 'resources/read' || typeof uri !== 'string') return null;
  return { key: server.key, server: server.config.name, actor: call.actor, uri };
}

const areAccepted = (answers: Answers): boolean => Object.values(answers).every(({ action }) => action === 'accept');

/** A server of the older protocol that wants pages opened before the call answers with an error. In the newest, it asks. */
async function sendOrAsk(using: Using, binding: McpBinding, going: Going): Promise<Answer> {
  try {
    return await send(using, binding, going);
  } catch (error) {
    if (!(error instanceof UrlElicitationRequiredError)) throw error;
    const { data: pages } = Pages.safeParse(error.elicitations);
    if (!pages) throw error;
    const requests = pages.map((params) => [params.elicitationId, { method: 'elicitation/create', params }]);
    return { resultType: 'input_required', inputRequests: Object.fromEntries(requests) };
  }
}

const Page = z.looseObject({
  mode: z.literal('url'),
  ...{ elicitationId: z.string().min(1).max(256), url: z.string(), message: z.string() },
});
const Pages = z.array(Page).min(1).max(10);

type Going = { answers: Answers | null; request_state: string | undefined };

async function send(using: Using, { tool, method, task }: McpBinding, going: Going): Promise<Answer> {
  const { call, client, server, log } = using;
  call.beforeEffect();
  const isModern = client.getProtocolEra() === 'modern';
  const options: RequestOptions = {
    // When the signal aborts, the SDK notifies the server and rejects at once.
    signal: call.signal,
    timeout: requestTimeout(call),
    onprogress: log.progress,
    allowInputRequired: true,
  };
  if (method === 'resources/subscribe' && isModern)
    return orAborted(subscribe(client, String(call.inputs.uri), requestTimeout(call)), call.signal);
  const more = {
    ...(going.answers && isModern ? { inputResponses: going.answers } : {}),
    ...(going.request_state === undefined ? {} : { requestState: going.request_state }),
    _meta: { ...traced(call), ...(isModern ? metaFor(call, server.config) : {}) },
  };
  if (method !== undefined) return client.request({ method, params: { ...call.inputs, ...more } }, Loose, options);
  const params = { name: tool, arguments: call.inputs, ...more };
  if (!isModern && task === 'required')
    return client.request({ method: 'tools/call', params: { ...params, task: { ttl: TASK_TTL_MS } } }, Loose, options);
  // With the tool's definition, the SDK knows which inputs to send as headers.
  const toolDefinition = { name: tool, inputSchema: { ...call.descriptor.input_schema, type: 'object' as const } };
  return client.callTool(params, { ...options, toolDefinition });
}

/** By the conventions for MCP, servers find the trace in `_meta`. */
const traced = ({ traceparent }: Call) => (traceparent === undefined ? {} : { traceparent });

/** The features of this call's MCP client that the server may use, and a request for log messages. */
function metaFor({ labels }: Call, config: NewMcpServer): JsonObject {
  const { sampling, roots, ...capabilities } = capabilitiesFor(config);
  const able = new Set((labels[CALLER_ASKS] ?? '').split(' '));
  const declared = {
    ...capabilities,
    ...(sampling && able.has('sampling') ? { sampling } : {}),
    ...(roots && able.has('roots') ? { roots } : {}),
  };
  return { [CLIENT_CAPABILITIES_META_KEY]: toJson(declared), [LOG_LEVEL_META_KEY]: 'info' };
}

/** The gateway's label for what the MCP client that made a call can be asked. */
export const CALLER_ASKS = 'mcp.asks';

async function follow(using: Using, task_id: string, answers: Answers | null): Promise<RunOutcome> {
  const { call, client, log } = using;
  const onStatus = (message: string) => log.hear('stderr', `${message}\n`);
  try {
    const end = await followTask({ client, call, onStatus }, task_id, answers);
    if (end.kind === 'result') return toOutcome(call, end.result, using.redact);
    if (end.kind === 'asks') {
      const asked = Object.keys(end.question.requests);
      await call.checkpoint(toState({ task_id, asked }), true, end.look_ms);
      return asks(using, end.question);
    }
    return { success: false, kind: 'TOOL_ERROR', error: end.error, retryable: false };
  } catch (error) {
    if (call.signal.aborted && call.signal.reason === 'cancel') await cancelTask(client, task_id).catch(() => {});
    throw error;
  }
}

function asks({ redact }: Using, question: Question): RunOutcome {
  const asked = Question.parse(redact.json(toJson(question)));
  return { success: false, kind: 'INPUT_REQUIRED', error: 'the tool asks a question', retryable: false, asks: asked };
}

/** A fallback: the worker's own deadline normally comes first. */
export const requestTimeout = ({ limits }: Call): number => limits.timeout_ms + 5000;
