import { type Invocation, isObject, type Json } from '@capstan/contracts';
import { at, textOf } from './shape.js';

/** The result of a call as shown to the model. */
export type CallResult = { text: string; ok: boolean };

/** Formats the output streams and then the outcome. Results are redacted before they are stored, so no secrets are left here. */
export function resultText(invocation: Invocation): CallResult {
  const { status, result } = invocation;
  if (!result) return { text: unfinished(invocation), ok: false };
  const ok = status === 'succeeded';
  const lines = ok ? outputOf(result.payload) : failureOf(invocation, result.payload);
  if (result.truncated)
    lines.push(`[TRUNCATED - output exceeded ${size(invocation.decision.limits.max_output_bytes)}]`);
  if (status === 'timed_out') lines.push(`[TIMEOUT after ${seconds(invocation.timeout_ms)}s]`);
  else if (result.exit_code !== null) lines.push(`[Exit code: ${result.exit_code}]`);
  return { text: lines.join('\n'), ok };
}

const isStreams = (payload: Json) => isObject(payload) && typeof payload.stdout === 'string';

function outputOf(payload: Json): string[] {
  if (isStreams(payload)) return nonEmpty([textOf(at(payload, 'stdout')), textOf(at(payload, 'stderr'))]);
  return [typeof payload === 'string' ? payload : JSON.stringify(payload)];
}

/** The reason for the failure comes first. */
function failureOf({ status, result }: Invocation, payload: Json): string[] {
  const streams = isStreams(payload) ? nonEmpty([textOf(at(payload, 'stderr')), textOf(at(payload, 'stdout'))]) : [];
  if (status === 'timed_out') return isStreams(payload) || payload === null ? streams : outputOf(payload);
  const said = `Error: ${result?.error ?? `the call ended ${status}`}`;
  if (isStreams(payload)) return streams.length > 0 ? streams : [said];
  return payload === null ? [said] : [said, ...outputOf(payload)];
}

const nonEmpty = (streams: string[]) =>
  streams.map((stream) => stream.replace(/\n$/, '')).filter((stream) => stream !== '');

function unfinished({ status, invocation_id, decision }: Invocation): string {
  switch (status) {
    case 'held':
      return `[HELD] A person must agree before this runs: ${decision.reason}. It has not run. Its id is ${invocation_id}.`;
    case 'denied':
      return `[DENIED] ${decision.reason}`;
    case 'queued':
    case 'deferred':
    case 'running':
      return `[PENDING] It is ${status} and has not ended yet. Its id is ${invocation_id}.`;
    case 'ambiguous':
      return `[AMBIGUOUS] It may have taken effect. Do not call it again; a person finds out. Its id is ${invocation_id}.`;
    default:
      return `Error: the call ended ${status}`;
  }
}

const seconds = (ms: number) => Math.round(ms / 100) / 10;

const UNITS = ['B', 'KB', 'MB', 'GB'];

function size(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log2(Math.max(bytes, 1)) / 10));
  return `${Math.round((bytes / 1024 ** power) * 10) / 10}${UNITS[power]}`;
}
