import { isObject, type Json } from '@capstan/contracts';
import { visibleJson } from '@capstan/contracts/visible-text';

export type RenderedPayload = {
  stdout: string;
  stderr: string;
  /** True for the output of a process, to which nothing may be added in a pipe. */
  raw: boolean;
};

/** Formats a payload for reading: printed output as it was printed, a lone `result` without its wrapper. */
export const renderPayload = (payload: Json): RenderedPayload => {
  if (isExecOutput(payload)) return { stdout: payload.stdout, stderr: payload.stderr, raw: true };
  const value = isLoneResult(payload) ? payload.result : payload;
  const text = typeof value === 'string' ? value : visibleJson(value, 2);
  return { stdout: text.endsWith('\n') ? text : `${text}\n`, stderr: '', raw: false };
};

type ExecOutput = { stdout: string; stderr: string; exit_code: number | null };

const isExecOutput = (payload: Json): payload is ExecOutput =>
  isObject(payload) &&
  typeof payload.stdout === 'string' &&
  typeof payload.stderr === 'string' &&
  'exit_code' in payload;

const isLoneResult = (payload: Json): payload is { result: Json } =>
  isObject(payload) && Object.keys(payload).length === 1 && 'result' in payload;
