import { Failure, type FailureName, type Json, toJson } from '@capstan/contracts';
import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError, UnauthorizedError } from '@modelcontextprotocol/client';
import type { ToolFailure } from '../runner.js';

const failure = (kind: FailureName, error: string, retryable: boolean): ToolFailure => ({
  success: false,
  kind,
  error,
  retryable,
});

/** The server could not be reached, so nothing has happened and a retry is safe. `hint`: what may help if it did not start. */
export function connectFailure(server: string, thrown: unknown, hint = ''): ToolFailure {
  const error = failureIn(thrown) ?? thrown;
  if (error instanceof Failure)
    return failure(
      error.kind,
      `the MCP server ${server} could not be started or reached: ${error.message}`,
      error.retryable,
    );
  if (isLate(error))
    return failure(
      'MCP_SERVER_FAILED',
      `the MCP server ${server} did not answer the first message in time${hint}`,
      true,
    );
  if (error instanceof UnauthorizedError) return loginNeeded(server);
  const status = statusOf(error);
  if (status === 401 || status === 403)
    return failure(
      'MCP_SERVER_FAILED',
      `the MCP server ${server} refuses the credentials in its headers (${status}); log in with: capstan mcp login ${server}`,
      false,
    );
  return failure(
    'MCP_SERVER_FAILED',
    `the MCP server ${server} could not be started or reached: ${messageOf(error)}${hint}`,
    true,
  );
}

export const isLate = (error: unknown): boolean =>
  error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout;

/** The SDK wraps errors that happen while it negotiates the protocol. */
function failureIn(error: unknown): Failure | null {
  if (error instanceof Failure) return error;
  const inner =
    error instanceof SdkError ? (error.cause ?? causeIn(error.data)) : error instanceof Error && error.cause;
  return inner ? failureIn(inner) : null;
}

const causeIn = (data: unknown): unknown =>
  typeof data === 'object' && data !== null && 'cause' in data ? data.cause : undefined;

const loginNeeded = (server: string): ToolFailure =>
  failure('MCP_SERVER_FAILED', `the MCP server ${server} wants a login: capstan mcp login ${server}`, false);

/** Phases in which a request fails before any of it is sent. */
const UNSENT: ReadonlySet<unknown> = new Set(['resolve', 'connect']);

/** The call was sent, but no answer came. It may have taken effect, so only an idempotent tool may be called again. */
const unanswered = (error: string, idempotent: boolean): ToolFailure =>
  idempotent ? failure('MCP_SERVER_FAILED', error, true) : failure('OUTCOME_UNKNOWN', error, false);

export function callFailure(server: string, error: unknown, ended: string | null, idempotent: boolean): ToolFailure {
  if (error instanceof Failure && error.kind === 'EGRESS_FAILED') {
    const text = `the MCP server ${server} broke off: ${error.message}`;
    return UNSENT.has(error.context.phase) ? failure('MCP_SERVER_FAILED', text, true) : unanswered(text, idempotent);
  }
  if (error instanceof Failure) return failure(error.kind, error.message, false);
  if (error instanceof UnauthorizedError) return loginNeeded(server);
  if (ended !== null) return unanswered(`the MCP server ${server} ended during the call: it ${ended}`, idempotent);
  if (isBrokenOff(error)) {
    const why = error instanceof ProtocolError ? `: ${error.message}` : '';
    return unanswered(`the MCP server ${server} disconnected during the call${why}`, idempotent);
  }
  if (error instanceof ProtocolError)
    return { ...failure('TOOL_ERROR', error.message, false), payload: { error: protocolError(error) } };
  return failure('TOOL_ERROR', `the MCP server ${server} gave no answer that can be used: ${messageOf(error)}`, false);
}

/** The SDK's code for a closed connection. Our transport also uses it for a stream that ended without an answer. */
const CONNECTION_CLOSED = -32_000;
const isBrokenOff = (error: unknown): boolean =>
  (error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed) ||
  (error instanceof ProtocolError && error.code === CONNECTION_CLOSED);

/** Whether the error is temporary, so that the server may soon answer again. */
export const isPassing = (error: unknown): boolean =>
  (error instanceof Failure && error.kind === 'EGRESS_FAILED') || isBrokenOff(error) || (statusOf(error) ?? 0) >= 500;

/** The error as the server sent it, so that MCP clients of ours get it in the same form. */
const protocolError = ({ code, message, data }: ProtocolError): Json =>
  toJson({ code, message, ...(data === undefined ? {} : { data }) });

/** A server that was restarted does not know our session, and has run nothing. */
export const isForgottenSession = (error: unknown): boolean => statusOf(error) === 404;

const statusOf = (error: unknown): number | undefined => (error instanceof SdkHttpError ? error.status : undefined);
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
