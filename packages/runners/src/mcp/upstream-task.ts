import { setTimeout as delay } from 'node:timers/promises';
import { type Answers, isObject, type Json, Question, toJson } from '@capstan/contracts';
import { type Client, type JSONRPCMessage, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/client';
import { z } from 'zod';
import type { Call } from '../runner.js';
import { isPassing } from './mcp-failure.js';

export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';
const TASK_KEY = 'capstan/task';
const MIN_POLL_MS = 250;
const MAX_POLL_MS = 5000;
/** The number of consecutive status requests that may fail: about a minute. */
const MAX_FAILURES = 15;

const Status = z.enum(['working', 'input_required', 'completed', 'failed', 'cancelled']);
/** A task in either protocol: 2025-11-25, or the extension of 2026-07-28. */
const TaskState = z.looseObject({
  taskId: z.string(),
  status: Status,
  statusMessage: z.string().nullish(),
  pollInterval: z.number().nullish(),
  pollIntervalMs: z.number().nullish(),
  inputRequests: z.record(z.string(), z.looseObject({ method: z.string() })).optional(),
  result: z.record(z.string(), z.unknown()).optional(),
  error: z.looseObject({ code: z.number(), message: z.string(), data: z.unknown() }).optional(),
});
type TaskState = z.infer<typeof TaskState>;
const Result = z.looseObject({});

/** Wraps a result that names a task in a form that the SDK accepts; `taskIn` finds it again. */
export function asCompleteResult(message: JSONRPCMessage): JSONRPCMessage {
  if (!('result' in message) || message.result.resultType !== 'task') return message;
  const { result } = message;
  return {
    ...message,
    result: { resultType: 'complete', content: [], _meta: { ...result._meta, [TASK_KEY]: result.taskId } },
  } as JSONRPCMessage;
}

/** The id of the task that a call became, in either protocol. */
export function taskIn(result: Record<string, unknown>): string | null {
  const { _meta, task } = result;
  const marked = (isObject(_meta) ? _meta[TASK_KEY] : null) ?? (isObject(task) ? task.taskId : null);
  return typeof marked === 'string' ? marked : null;
}

export type TaskEnd =
  | { kind: 'result'; result: Record<string, unknown> }
  | { kind: 'failed'; error: string }
  /** `look_ms`: how often the server wants to be polled. */
  | { kind: 'asks'; question: Question; look_ms: number };

type Following = { client: Client; call: Call; onStatus(message: string): void };

/** Follows a task at its server to its end. The task continues there independently, so another attempt can take over. */
export async function followTask(following: Following, taskId: string, answers: Answers | null): Promise<TaskEnd> {
  const { client, call } = following;
  const given = answers && (await giveAnswers(following, taskId, answers)) ? answers : {};
  let said = '';
  let failures = 0;
  for (;;) {
    const task = await getTask(client, taskId, call.signal).catch((error: unknown) => {
      failures += 1;
      if (!isPassing(error) || failures > MAX_FAILURES) throw error;
      return null;
    });
    if (!task) {
      await delay(Math.min(MAX_POLL_MS, MIN_POLL_MS * 2 ** failures), undefined, { signal: call.signal });
      continue;
    }
    failures = 0;
    if (task.statusMessage && task.statusMessage !== said) {
      said = task.statusMessage;
      following.onStatus(said);
    }
    const poll_ms = pollOf(task);
    const question = openQuestion(task, given);
    if (question) return { kind: 'asks', question, look_ms: poll_ms };
    if (task.status === 'completed' || task.status === 'failed') return ended(following, task);
    if (task.status === 'cancelled') return { kind: 'failed', error: 'the task was cancelled at its server' };
    // A task of 2025 that needs input asks on the stream of its result.
    if (task.status === 'input_required' && !task.inputRequests) return ended(following, task);
    await delay(poll_ms, undefined, { signal: call.signal });
  }
}

async function getTask(client: Client, taskId: string, signal: AbortSignal): Promise<TaskState> {
  const got = await client.request({ method: 'tasks/get', params: { taskId } }, Result, { signal });
  return TaskState.parse('task' in got ? got.task : got);
}

const pollOf = ({ pollIntervalMs, pollInterval }: TaskState): number =>
  Math.min(MAX_POLL_MS, Math.max(MIN_POLL_MS, pollIntervalMs ?? pollInterval ?? 0));

/**
 * Returns true if the server accepted them. A lost worker may have sent them already, so the task may have continued: its state says which questions
 * are open.
 */
async function giveAnswers({ client, call, onStatus }: Following, taskId: string, answers: Answers): Promise<boolean> {
  const update = { method: 'tasks/update', params: { taskId, inputResponses: answers } };
  try {
    await client.request(update, Result, { signal: call.signal });
    return true;
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    onStatus(`the answers were refused: ${error.message}`);
    return false;
  }
}

/** A server may need some time to process an answer. A key identifies one question during the life of the task. */
function openQuestion({ status, inputRequests }: TaskState, given: Answers): Question | null {
  if (status !== 'input_required' || !inputRequests) return null;
  const open = Object.entries(inputRequests).filter(([key]) => !(key in given));
  return open.length > 0 ? toQuestion(Object.fromEntries(open)) : null;
}

/** True if a task still waits for these answers. A task that its server has forgotten does not. */
export async function stillAsks(client: Client, { task_id, asked }: HeldState, signal: AbortSignal): Promise<boolean> {
  try {
    const { status, inputRequests = {} } = await getTask(client, task_id, signal);
    return status === 'input_required' && asked.every((key) => key in inputRequests);
  } catch (error) {
    if (error instanceof ProtocolError && error.code === ProtocolErrorCode.InvalidParams) return false;
    throw error;
  }
}

async function ended({ client, call }: Following, task: TaskState): Promise<TaskEnd> {
  if (task.result) return { kind: 'result', result: task.result };
  if (task.error) throw new ProtocolError(task.error.code, task.error.message, task.error.data);
  if (client.getProtocolEra() === 'modern') return { kind: 'failed', error: task.statusMessage ?? 'the task failed' };
  const { taskId } = task;
  const timeout = call.limits.timeout_ms;
  const result = await client.request({ method: 'tasks/result', params: { taskId } }, Result, {
    ...{ signal: call.signal, timeout },
  });
  return { kind: 'result', result };
}

/** Tells the server that the task is no longer needed. */
export const cancelTask = (client: Client, taskId: string): Promise<unknown> =>
  client.request({ method: 'tasks/cancel', params: { taskId } }, Result, { timeout: 2000 });

export function toQuestion(inputRequests: unknown): Question {
  const { data, error } = Question.safeParse({ requests: toJson(inputRequests ?? {}) });
  if (error) throw new Error(`its question cannot be asked: ${z.prettifyError(error)}`);
  return data;
}

/** A checkpoint of this runner. `asked`: the keys of the questions that a task is held for. */
export const McpState = z.object({
  task_id: z.string().optional(),
  asked: z.array(z.string()).optional(),
  request_state: z.string().optional(),
});
/** The checkpoint of a call that is held for a question of its task. */
export const HeldState = z.object({ task_id: z.string(), asked: z.array(z.string()) });
type HeldState = z.infer<typeof HeldState>;
export type McpState = z.infer<typeof McpState>;
export const toState = (state: McpState): Json => toJson(state);
