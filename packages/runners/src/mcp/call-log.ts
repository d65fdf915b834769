import type { Redactor } from '@capstan/redact';
import type { Call } from '../runner.js';
import type { Listener } from './connection.js';

type Progress = { progress: number; total?: number | undefined; message?: string | undefined };

/** Writes what a server prints during a call to the call's log: line by line, redacted, and up to the call's output limit. */
export type CallLog = { hear: Listener['text']; progress(progress: Progress): void; end(): void };

export function callLog({ log, limits }: Pick<Call, 'log' | 'limits'>, redact: Redactor): CallLog {
  // One stream for everything: a key of several lines may arrive in pieces.
  const redacting = redact.stream();
  let left = limits.max_output_bytes;
  let pending = '';
  let ended = false;
  const show = (text: string) => {
    if (text === '' || left <= 0) return;
    left -= Buffer.byteLength(text);
    log('stderr', left > 0 ? text : '[the rest of the log is left out]\n');
  };
  const write = (text: string) => {
    if (!ended && left > 0) show(redacting.push(text));
  };
  return {
    hear: (_stream, text) => {
      pending += text;
      const end = pending.lastIndexOf('\n') + 1;
      // A very long line is written without waiting for its end.
      const whole = pending.length > 65_536 ? pending.length : end;
      write(pending.slice(0, whole));
      pending = pending.slice(whole);
    },
    progress: ({ progress, total, message }) => {
      const count = total === undefined ? `${progress}` : `${progress}/${total}`;
      write(`[progress ${count}]${message === undefined ? '' : ` ${message}`}\n`);
    },
    end: () => {
      write(pending);
      show(redacting.end());
      ended = true;
    },
  };
}
