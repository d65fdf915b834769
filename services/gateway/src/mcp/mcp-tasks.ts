import { Failure, type Invocation, type Principal } from '@capstan/contracts';
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CancelTaskRequestSchema,
  ErrorCode,
  GetTaskPayloadRequestSchema,
  GetTaskRequestSchema,
  McpError,
  type Task,
} from '@modelcontextprotocol/sdk/types.js';
import type { GatewayContext } from '../gateway-context.js';
import { cancelOne, readDetail } from '../invocation/act-on.js';
import { followCall } from './follow-call.js';
import { toCallResult } from './to-call-result.js';

const POLL_MS = 1000;

/**
 * A call as a task of the protocol: its id is the invocation's, so any gateway can say how it is, for as long as the row is
 * kept. It is how a client waits for a held call, which may take a person days to decide.
 */
export function serveTasks(server: Server, gateway: GatewayContext, principal: Principal): void {
  server.setRequestHandler(GetTaskRequestSchema, async ({ params }) =>
    toTask(await known(() => readDetail(gateway, principal, params.taskId))),
  );
  server.setRequestHandler(GetTaskPayloadRequestSchema, async ({ params }) => {
    const invocation = await known(() => readDetail(gateway, principal, params.taskId));
    // Whoever only asks for a result does not end the call by leaving.
    const ended = await followCall(gateway, principal, invocation, { signal: NEVER });
    const result = toCallResult(ended);
    return { ...result, _meta: { ...result._meta, 'io.modelcontextprotocol/related-task': { taskId: params.taskId } } };
  });
  server.setRequestHandler(CancelTaskRequestSchema, async ({ params }) =>
    toTask(await known(() => cancelOne(gateway, principal, params.taskId))),
  );
}

const NEVER = new AbortController().signal;

async function known(read: () => Promise<Invocation>): Promise<Invocation> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof Failure) throw new McpError(ErrorCode.InvalidParams, error.message);
    throw error;
  }
}

export function toTask(invocation: Invocation): Task {
  const { invocation_id, status, created_at, finished_at, decision, result } = invocation;
  const message = status === 'held' ? `held: ${decision.reason}` : (result?.error ?? status);
  return {
    taskId: invocation_id,
    status: taskStatus(invocation),
    statusMessage: message,
    ttl: null,
    createdAt: created_at,
    lastUpdatedAt: finished_at ?? created_at,
    pollInterval: POLL_MS,
  };
}

function taskStatus({ status }: Invocation): Task['status'] {
  switch (status) {
    case 'succeeded':
      return 'completed';
    case 'canceled':
      return 'cancelled';
    case 'held':
    case 'deferred':
    case 'queued':
    case 'running':
      return 'working';
    default:
      return 'failed';
  }
}
