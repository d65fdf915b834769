import { Readable, Writable } from 'node:stream';
import type { Io } from '../io.js';
import { runCli } from '../run-cli.js';

export type RunOptions = {
  env?: Record<string, string>;
  cwd?: string;
  stdin?: string | Readable;
  tty?: boolean;
  columns?: number;
  rows?: number;
  interrupt?: AbortSignal;
};

const NOW = new Date('2026-01-01T12:00:30.000Z');

const collector = (tty: boolean, size: { columns?: number; rows?: number }) => {
  let text = '';
  const stream = new Writable({
    write(chunk, _encoding, done) {
      text += chunk;
      done();
    },
  });
  return Object.assign(stream, { isTTY: tty, ...size, text: () => text });
};

/** Runs the whole command inside the test, with everything it would touch of its process replaced. */
export const run = async (args: readonly string[], options: RunOptions = {}) => {
  const { tty = false, columns, rows, env = {}, cwd = '/', stdin, interrupt } = options;
  const size = { ...(columns === undefined ? {} : { columns }), ...(rows === undefined ? {} : { rows }) };
  const stdout = collector(tty, size);
  const stderr = collector(tty, size);
  const io: Io = {
    stdin: typeof stdin === 'object' ? stdin : Readable.from([Buffer.from(stdin ?? '')]),
    stdout,
    stderr,
    env,
    cwd,
    now: () => NOW,
    onInterrupt(listener) {
      interrupt?.addEventListener('abort', listener);
      return () => interrupt?.removeEventListener('abort', listener);
    },
  };
  const code = await runCli(args, io);
  return { code, stdout: stdout.text(), stderr: stderr.text() };
};
