import { constants } from 'node:os';
import { basename } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { JsonError, MAX_RESULT_DEPTH, parseJson } from '@capstan/contracts';
import type { Ending } from '@capstan/sandbox';
import type { RunOutcome, ToolFailure } from '../../runner.js';
import type { Finished } from '../launch/launch.js';
import type { Program } from '../prepare/program.js';
import { refused } from '../refused.js';
import { FLOOD_BYTES } from './capture-output.js';

const MAX_REASON_LENGTH = 300;

/** The limit that a run exceeded. */
export type Excess = { kind: 'output' } | { kind: 'directory'; bytes: number };

const excessText = (excess: Excess): string =>
  excess.kind === 'output'
    ? `it wrote more than ${FLOOD_BYTES} bytes`
    : `its files take more than the ${excess.bytes} bytes that a work directory may have, or are too many to count`;

/** The outcome of a run. */
export const execOutcome = (
  { file, output }: Pick<Program, 'file' | 'output'>,
  { ending, tree, excess, stdout, stderr }: Finished,
): RunOutcome => {
  const name = basename(file) || file;
  if (ending.kind === 'not_started') return spawnFailure(name, ending.code, ending.message);
  const exit_code = ending.kind === 'exited' ? ending.exit_code : exitCodeOf(ending.signal);
  const payload = { stdout: stdout.text, stderr: stderr.text, exit_code };
  const truncated = stdout.truncated || stderr.truncated;
  if (excess !== null)
    return {
      success: false,
      error: `${name} was stopped: ${excessText(excess)}`,
      kind: 'TOOL_ERROR',
      retryable: false,
      payload,
      exit_code,
      truncated,
    };
  if (exit_code === 0) return shaped(name, output, { payload, exit_code, truncated });
  const memory = tree?.out_of_memory ? ', and its processes used more memory than they may' : '';
  const error = [`${name} ${whatHappened(ending)}${memory}`, lastWords(stderr.text)].filter(Boolean).join(': ');
  return { success: false, error, kind: 'TOOL_ERROR', retryable: true, payload, exit_code, truncated };
};

type Streams = { stdout: string; stderr: string; exit_code: number };

/** Shaped as its tool declares: only the text, or also its parsed value. */
const shaped = (
  name: string,
  output: Program['output'],
  { payload, ...rest }: { payload: Streams; exit_code: number; truncated: boolean },
): RunOutcome => {
  if (output === 'text') return { success: true, payload, ...rest };
  if (output === 'lines') return { success: true, payload: { ...payload, lines: linesOf(payload.stdout) }, ...rest };
  try {
    const json = parseJson(payload.stdout, MAX_RESULT_DEPTH);
    return { success: true, payload: { ...payload, json }, ...rest };
  } catch (error) {
    const deep = error instanceof JsonError && error.message.startsWith('nested') ? ` (${error.message})` : '';
    const why = rest.truncated
      ? 'its output was cut at the limit, and what is left is not JSON'
      : `its output is not JSON${deep}`;
    return {
      success: false,
      error: `${name} succeeded, but ${why}`,
      kind: 'TOOL_ERROR',
      retryable: false,
      payload,
      ...rest,
    };
  }
};

const linesOf = (text: string): string[] => {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
};

/** A signal arrives as in shells, as an exit code above 128. */
const whatHappened = (ending: Exclude<Ending, { kind: 'not_started' }>): string => {
  const signal = ending.kind === 'killed' ? ending.signal : signalOf(ending.exit_code);
  if (signal === undefined) return ending.kind === 'exited' ? `exited with ${ending.exit_code}` : 'was killed';
  return `was killed by ${signal}${REASONS[signal] ?? ''}`;
};

/** The limits that end a process by a signal. */
const REASONS: Record<string, string> = {
  SIGXFSZ: ', which means that a file grew beyond the limit',
  SIGXCPU: ', which means that it used up its processor time',
};

/** As in shells: 128 plus the number of the signal. */
const exitCodeOf = (signal: string): number =>
  128 + (Object.entries(constants.signals).find(([name]) => name === signal)?.[1] ?? 0);

const signalOf = (exit_code: number): string | undefined =>
  Object.entries(constants.signals).find(([, number]) => exit_code === 128 + number)?.[0];

/** Lines that interpreters print around the message. */
const NOISE = /^\s*(at |File "|\^+\s*$|[{}]\s*$|Node\.js v\d|node:internal|Traceback )/;
const TELLING = /\b\w*(error|exception|fatal|panic|fail(ed|ure)?|cannot|can't|denied|not found|no such)\b/i;

/** The line that explains the failure: the last that looks like an error, else the last outside a stack trace. */
const lastWords = (text: string): string => {
  const lines = stripVTControlCharacters(text.slice(-4096))
    .split(/[\r\n]+/)
    .filter((line) => line.trim() !== '' && !NOISE.test(line));
  return (lines.findLast((line) => TELLING.test(line)) ?? lines.at(-1) ?? '').trim().slice(0, MAX_REASON_LENGTH);
};

/** Explains a failed start to the caller. */
const spawnFailure = (name: string, code: string, message: string): ToolFailure => {
  switch (code) {
    case 'E2BIG':
      return refused('INVALID_INPUTS', `the arguments of ${name} are longer than the system takes; pass them by stdin`);
    case 'LOST':
      return refused('RUNNER_FAILED', `whether ${name} ran is not known: ${message}`);
    case 'EAGAIN':
    case 'EMFILE':
    case 'ENFILE':
    case 'ENOMEM':
      return { ...refused('RUNNER_FAILED', `the worker has no room for another process (${code})`), retryable: true };
    default:
      return refused('TOOL_ERROR', `${name} could not be started: ${message}`);
  }
};
