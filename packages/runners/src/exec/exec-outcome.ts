import { constants } from 'node:os';
import { stripVTControlCharacters } from 'node:util';
import type { RunOutcome } from '../runner.js';
import type { Capture } from './capture-output.js';
import type { Ending } from './run-command.js';

const MAX_REASON_LENGTH = 300;

/** What a process that did start came to. */
export const execOutcome = (
  name: string,
  ending: Exclude<Ending, { kind: 'not_started' }>,
  stdout: ReturnType<Capture['end']>,
  stderr: ReturnType<Capture['end']>,
): RunOutcome => {
  const exit_code = ending.kind === 'exited' ? ending.exit_code : exitCodeOf(ending.signal);
  const payload = { stdout: stdout.text, stderr: stderr.text, exit_code };
  const truncated = stdout.truncated || stderr.truncated;
  if (exit_code === 0) return { success: true, payload, exit_code, truncated };
  const what = ending.kind === 'exited' ? `exited with ${exit_code}` : `was killed by ${ending.signal}`;
  const error = [`${name} ${what}`, lastLine(stderr.text)].filter(Boolean).join(': ');
  return { success: false, error, kind: 'TOOL_ERROR', retryable: true, payload, exit_code, truncated };
};

/** As shells count: 128 and the number of the signal. */
const exitCodeOf = (signal: string): number =>
  128 + (Object.entries(constants.signals).find(([name]) => name === signal)?.[1] ?? 0);

const lastLine = (text: string): string => {
  const lines = stripVTControlCharacters(text.slice(-4096)).split(/[\r\n]+/);
  return (lines.findLast((line) => line.trim() !== '') ?? '').trim().slice(0, MAX_REASON_LENGTH);
};
