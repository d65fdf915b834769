import { Failure } from '@capstan/contracts';
import type { ToolFailure } from '../runner.js';

/** Describes the failure of a page, without internals of the browser. */
export function failureOf(error: unknown): ToolFailure {
  if (error instanceof Failure) {
    const { rule } = error.context;
    const failure = failed(error.kind, error.message, error.retryable);
    return typeof rule === 'string' ? { ...failure, rule } : failure;
  }
  const message = firstLine(error);
  if (isTimeout(error)) return failed('TOOL_TIMEOUT', message);
  if (message.includes('net::ERR_')) return networkFailure(message);
  if (isDownload(error)) return failed('TOOL_ERROR', 'the address is a download, not a page');
  if (isGone(message)) return failed('RUNNER_FAILED', 'the browser ended during the run', true);
  return failed('TOOL_ERROR', message);
}

const networkFailure = (message: string): ToolFailure =>
  /ERR_UNSAFE_PORT|ERR_DISALLOWED_URL_SCHEME|ERR_UNKNOWN_URL_SCHEME/.test(message)
    ? failed('EGRESS_DENIED', message)
    : failed('EGRESS_FAILED', message, true);

export const isDownload = (error: unknown): boolean => firstLine(error).includes('Download is starting');

export const isTimeout = (error: unknown): boolean => error instanceof Error && error.name === 'TimeoutError';

const failed = (kind: ToolFailure['kind'], error: string, retryable = false): ToolFailure => ({
  success: false,
  error,
  kind,
  retryable,
});

const isGone = (message: string) =>
  /has been closed|Target closed|Browser closed|browser has disconnected/.test(message);

/** Playwright appends a log of what it tried, with colors. */
const firstLine = (error: unknown): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one
  (error instanceof Error ? error.message : String(error)).replaceAll(/\u001b\[\d{1,3}m/g, '').split('\n')[0] ?? '';
