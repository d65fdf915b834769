import { Failure, type Principal } from '@capstan/contracts';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  type CallToolRequest,
  CallToolRequestSchema,
  type CallToolResult,
  type CreateTaskResult,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
  type Progress,
} from '@modelcontextprotocol/sdk/types.js';
import type { GatewayContext } from '../gateway-context.js';
import { submit } from '../invocation/submit.js';
import { followCall } from './follow-call.js';
import { listTools } from './list-tools.js';
import { mcpNames } from './mcp-names.js';
import { serveTasks, toTask } from './mcp-tasks.js';
import { toCallResult, toRefusal } from './to-call-result.js';

export type McpVisit = {
  principal: Principal;
  /** Tells the sessions of one key apart; absent for clients that keep none. */
  session: string | undefined;
  /** Aborts when the client is gone. */
  signal: AbortSignal;
};

const INSTRUCTIONS =
  'Every call is decided by policy. A call may be held until a person agrees: it then answers with an id instead of a ' +
  'result, and has not run. Call it as a task to wait for the decision.';

/** Capstan as an MCP server, for the length of one request: nothing is kept between requests but rows. */
export function createMcpServer(gateway: GatewayContext, visit: McpVisit): Server {
  const server = new Server(
    { name: 'capstan', version: '0.1.0' },
    {
      capabilities: { tools: {}, tasks: { cancel: {}, requests: { tools: { call: {} } } } },
      instructions: INSTRUCTIONS,
    },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: listTools(gateway, visit.principal) }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }, { requestId, sendNotification }) => {
    const progressToken = params._meta?.progressToken;
    const onProgress =
      progressToken === undefined
        ? undefined
        : (progress: Progress) =>
            sendNotification({ method: 'notifications/progress', params: { progressToken, ...progress } });
    return callTool(gateway, visit, params, { requestId, onProgress });
  });
  serveTasks(server, gateway, visit.principal);
  return server;
}

type Asking = { requestId: string | number; onProgress: ((progress: Progress) => Promise<void>) | undefined };

async function callTool(
  gateway: GatewayContext,
  visit: McpVisit,
  { name, arguments: inputs = {}, task }: CallToolRequest['params'],
  { requestId, onProgress }: Asking,
): Promise<CallToolResult | CreateTaskResult> {
  const { principal, session, signal } = visit;
  const tool = mcpNames(gateway.catalog.list()).get(name) ?? gateway.catalog.get(name);
  if (!tool) throw new McpError(ErrorCode.InvalidParams, `There is no tool ${JSON.stringify(name)}.`);
  const { tool_id } = tool.descriptor;
  try {
    const labels = session === undefined ? {} : requestLabels(session, requestId);
    const { invocation } = await submit(gateway, principal, { tool_id, inputs, labels }, 0);
    if (task) return { task: toTask(invocation) };
    let count = 0;
    const onLine = onProgress && ((message: string) => onProgress({ progress: ++count, message }));
    return toCallResult(await followCall(gateway, principal, invocation, { signal, onLine }));
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    if (task) throw new McpError(ErrorCode.InvalidRequest, `${error.message} ${error.suggestion}`);
    return toRefusal(error);
  }
}

/** By these a later `notifications/cancelled` finds the call, whichever gateway it comes to. */
export const requestLabels = (session: string, requestId: string | number): Record<string, string> => ({
  'mcp.session': session,
  'mcp.request': JSON.stringify(requestId),
});
