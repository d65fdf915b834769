import { constants } from 'node:os';
import { stripVTControlCharacters } from 'node:util';
import { JsonError, MAX_RESULT_DEPTH, parseJson } from '@capstan/contracts';
import type { RunOutcome } from '../runner.js';
import { type Capture, FLOOD_BYTES } from './capture-output.js';
import type { Ending } from './launcher/ending.js';
import type { Program } from './program.js';

const MAX_REASON_LENGTH = 300;

/** What a run had too much of. */
export type Excess = { kind: 'output' } | { kind: 'directory'; bytes: number };

const excessText = (excess: Excess): string =>
  excess.kind === 'output'
    ? `it wrote more than ${FLOOD_BYTES} bytes`
    : `its files take more than the ${excess.bytes} bytes that a work directory may have, or are too many to count`;

export type Ended = {
  name: string;
  /** The kernel killed something of it because memory had run out. */
  out_of_memory: boolean;
  /** Why it was stopped before its time; null: it was not. */
  stopped: Excess | null;
  output: Program['output'];
  ending: Exclude<Ending, { kind: 'not_started' }>;
  stdout: ReturnType<Capture['end']>;
  stderr: ReturnType<Capture['end']>;
};

/** What a process that did start came to. */
export const execOutcome = ({ name, out_of_memory, stopped, output, ending, stdout, stderr }: Ended): RunOutcome => {
  const exit_code = ending.kind === 'exited' ? ending.exit_code : exitCodeOf(ending.signal);
  const payload = { stdout: stdout.text, stderr: stderr.text, exit_code };
  const truncated = stdout.truncated || stderr.truncated;
  if (stopped !== null)
    return {
      success: false,
      error: `${name} was stopped: ${excessText(stopped)}`,
      kind: 'TOOL_ERROR',
      retryable: false,
      payload,
      exit_code,
      truncated,
    };
  if (exit_code === 0) return shaped(name, output, { payload, exit_code, truncated });
  const memory = out_of_memory ? ', and its processes used more memory than they may' : '';
  const error = [`${name} ${whatHappened(ending)}${memory}`, lastWords(stderr.text)].filter(Boolean).join(': ');
  return { success: false, error, kind: 'TOOL_ERROR', retryable: true, payload, exit_code, truncated };
};

type Streams = { stdout: string; stderr: string; exit_code: number };

/** As its tool declares: the text alone, or also what it means. */
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
      error: `${name} ended well, but ${why}`,
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

/** A death by signal arrives as shells tell of it, as an exit code above 128. */
const whatHappened = (ending: Ended['ending']): string => {
  const signal = ending.kind === 'killed' ? ending.signal : signalOf(ending.exit_code);
  if (signal === undefined) return ending.kind === 'exited' ? `exited with ${ending.exit_code}` : 'was killed';
  return `was killed by ${signal}${REASONS[signal] ?? ''}`;
};

/** The limits that announce themselves by a signal. */
const REASONS: Record<string, string> = {
  SIGXFSZ: ', which means that a file grew beyond the limit',
  SIGXCPU: ', which means that it used up its processor time',
};

/** As shells count: 128 and the number of the signal. */
const exitCodeOf = (signal: string): number =>
  128 + (Object.entries(constants.signals).find(([name]) => name === signal)?.[1] ?? 0);

const signalOf = (exit_code: number): string | undefined =>
  Object.entries(constants.signals).find(([, number]) => exit_code === 128 + number)?.[0];

/** What interpreters write after the message, or around it, and says nothing by itself. */
const NOISE = /^\s*(at |File "|\^+\s*$|[{}]\s*$|Node\.js v\d|node:internal|Traceback )/;
const TELLING = /\b\w*(error|exception|fatal|panic|fail(ed|ure)?|cannot|can't|denied|not found|no such)\b/i;

/** The line that says what went wrong: the last that reads like an error, else the last that is not a part of a stack trace. */
const lastWords = (text: string): string => {
  const lines = stripVTControlCharacters(text.slice(-4096))
    .split(/[\r\n]+/)
    .filter((line) => line.trim() !== '' && !NOISE.test(line));
  return (lines.findLast((line) => TELLING.test(line)) ?? lines.at(-1) ?? '').trim().slice(0, MAX_REASON_LENGTH);
};
