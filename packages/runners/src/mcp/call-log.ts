import type { Call } from '../runner.js';
import type { Listener } from './connection.js';

type Progress = { progress: number; total?: number | undefined; message?: string | undefined };

/** What a server says while a call runs, as that call's log: by the line, redacted, and no more than its output may be. */
export type CallLog = { hear: Listener['text']; progress(progress: Progress): void; end(): void };

export function callLog(call: Call, redact: (text: string) => string): CallLog {
  let left = call.limits.max_output_bytes;
  let pending = '';
  let ended = false;
  const write = (text: string) => {
    if (text === '' || ended || left <= 0) return;
    left -= Buffer.byteLength(text);
    call.log('stderr', left > 0 ? redact(text) : '[the rest of the log is left out]\n');
  };
  return {
    hear: (_stream, text) => {
      pending += text;
      const end = pending.lastIndexOf('\n') + 1;
      // Without a line break in sight, what is there goes out as it is.
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
      ended = true;
    },
  };
}
