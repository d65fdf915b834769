import { setTimeout as delay } from 'node:timers/promises';
import type { Answers, Json, JsonObject, Question } from '@capstan/contracts';
import { type Client, type JSONRPCMessage, ProtocolError } from '@modelcontextprotocol/client';
import { z } from 'zod';
import type { Call } from '../runner.js';

export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';
const TASK_KEY = 'capstan/task';
const MIN_POLL_MS = 250;
const MAX_POLL_MS = 5000;

const Status = z.enum(['working', 'input_required', 'completed', 'failed', 'cancelled']);
/** A task in either spelling: that of 2025-11-25, and that of the extension of 2026-07-28. */
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

/** A result that names a task, in a form that the SDK lets through; `taskIn` finds it again. */
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
  const marked = asRecord(result._meta)?.[TASK_KEY] ?? asRecord(result.task)?.taskId;
  return typeof marked === 'string' ? marked : null;
}

export type TaskEnd =
  | { kind: 'result'; result: Record<string, unknown> }
  | { kind: 'failed'; error: string }
  | { kind: 'asks'; question: Question };

type Following = { client: Client; call: Call; onStatus(message: string): void };

/** Follows a task at its server to its end. It goes on there whoever follows it, so another attempt may take over. */
export async function followTask(following: Following, taskId: string, answers: Answers | null): Promise<TaskEnd> {
  const { client, call } = following;
  if (answers) await client.request({ method: 'tasks/update', params: { taskId, inputResponses: answers } }, Result);
  let said = '';
  for (;;) {
    const task = await getTask(following, taskId);
    if (task.statusMessage && task.statusMessage !== said) {
      said = task.statusMessage;
      following.onStatus(said);
    }
    if (task.status === 'input_required' && task.inputRequests) return { kind: 'asks', question: toQuestion(task) };
    if (task.status === 'completed' || task.status === 'failed') return ended(following, task);
    if (task.status === 'cancelled') return { kind: 'failed', error: 'the task was cancelled at its server' };
    // A task of 2025 that wants input asks on the stream of its result.
    if (task.status === 'input_required') return ended(following, task);
    const poll_ms = Math.min(MAX_POLL_MS, Math.max(MIN_POLL_MS, task.pollIntervalMs ?? task.pollInterval ?? 0));
    await delay(poll_ms, undefined, { signal: call.signal });
  }
}

async function getTask({ client, call }: Following, taskId: string): Promise<TaskState> {
  const got = await client.request({ method: 'tasks/get', params: { taskId } }, Result, { signal: call.signal });
  return TaskState.parse('task' in got ? got.task : got);
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

/** Tells the server that nobody wants the task any more. */
export const cancelTask = (client: Client, taskId: string): Promise<unknown> =>
  client.request({ method: 'tasks/cancel', params: { taskId } }, Result, { timeout: 2000 });

const toQuestion = ({ inputRequests = {} }: TaskState): Question => ({
  requests: JSON.parse(JSON.stringify(inputRequests)) as Question['requests'],
});

const asRecord = (value: unknown): Record<string, unknown> | undefined =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;

/** What a checkpoint of this runner holds. */
export const McpState = z.object({ task_id: z.string().optional(), request_state: z.string().optional() });
export type McpState = z.infer<typeof McpState>;
export const toState = (state: McpState): Json => JSON.parse(JSON.stringify(state)) as JsonObject;
