import { Failure, type FailureName } from '@capstan/contracts';
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import type { ToolFailure } from '../runner.js';

const failure = (kind: FailureName, error: string, retryable: boolean): ToolFailure => ({
  success: false,
  kind,
  error,
  retryable,
});

/** The server could not be reached at all, so nothing has happened and another try is safe. */
export function connectFailure(server: string, error: unknown): ToolFailure {
  if (error instanceof Failure)
    return failure(
      error.kind,
      `the MCP server ${server} could not be started or reached: ${error.message}`,
      error.retryable,
    );
  if (error instanceof McpError && error.code === ErrorCode.RequestTimeout)
    return failure('MCP_SERVER_FAILED', `the MCP server ${server} did not answer the first message in time`, true);
  const status = error instanceof StreamableHTTPError ? error.code : undefined;
  if (status === 401 || status === 403)
    return failure(
      'MCP_SERVER_FAILED',
      `the MCP server ${server} refuses the credentials in its headers (${status})`,
      false,
    );
  return failure(
    'MCP_SERVER_FAILED',
    `the MCP server ${server} could not be started or reached: ${messageOf(error)}`,
    true,
  );
}

/** Where a request failed before any of it was sent. */
const UNSENT: ReadonlySet<unknown> = new Set(['resolve', 'connect']);

/** The call was sent; whether it took effect is known only of tools that may be repeated. */
export function callFailure(server: string, error: unknown, ended: string | null, idempotent: boolean): ToolFailure {
  if (error instanceof Failure && error.kind === 'EGRESS_FAILED')
    return failure(
      'MCP_SERVER_FAILED',
      `the MCP server ${server} broke off: ${error.message}`,
      idempotent || UNSENT.has(error.context.phase),
    );
  if (error instanceof Failure) return failure(error.kind, error.message, false);
  if (ended !== null)
    return failure('MCP_SERVER_FAILED', `the MCP server ${server} ended during the call: it ${ended}`, idempotent);
  if (error instanceof McpError && error.code === ErrorCode.ConnectionClosed)
    return failure('MCP_SERVER_FAILED', `the MCP server ${server} broke off during the call`, idempotent);
  if (error instanceof McpError) return failure('TOOL_ERROR', withoutCode(error), false);
  return failure('TOOL_ERROR', `the MCP server ${server} gave no answer that can be used: ${messageOf(error)}`, false);
}

/** A server that was restarted does not know our session; nothing was run. */
export const isForgottenSession = (error: unknown): boolean =>
  error instanceof StreamableHTTPError && error.code === 404;

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
/** The SDK puts the number in front of what the server said. */
const withoutCode = (error: McpError): string => error.message.replace(/^MCP error -?\d+: /, '');
