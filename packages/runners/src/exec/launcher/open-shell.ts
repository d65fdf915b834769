import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { Socket } from 'node:net';
import type { Identity } from '../../sandbox/sandbox.js';
import { signalGroup } from '../process-group.js';
import type { Ending } from './ending.js';
import { readToMark } from './read-to-mark.js';
import { type ShellCommand, toShellCommand } from './shell-command.js';

export type Output = { stdout(chunk: Uint8Array): void; stderr(chunk: Uint8Array): void };

/** A shell that waits for commands and runs them one after the other, in a process group of its own. */
export type Shell = {
  pid: number;
  run(command: ShellCommand, output: Output): Promise<Ending>;
  /** Kills what runs, and the shell with it. */
  kill(): void;
  /** Lets it end by itself; it is not to be used any more. */
  dismiss(): void;
  gone: Promise<void>;
};

export type ShellOptions = {
  /** In front of the shell's own name: what sets limits, which everything it starts has from it. */
  limited_by: readonly string[];
  sh: string;
  identity: Identity;
};

/** Time for the last output to arrive once the shell is gone; pipes may be held open from outside. */
const DRAIN_MS = 100;
/**
 * Asked to end, the whole group is; the shell must survive it, and what it starts must not inherit that. What the shell
 * itself has to say (how a command was killed) goes nowhere; commands get the real stderr from 3.
 */
const SETUP = 'trap : TERM; exec 3>&2 2>/dev/null\n';

export const openShell = ({ limited_by, sh, identity }: ShellOptions): Shell | Ending => {
  const [file = sh, ...args] = [...limited_by, sh];
  const child = (() => {
    try {
      return spawn(file, args, { stdio: 'pipe', detached: true, env: {}, cwd: '/', ...identity });
    } catch (error) {
      return notStarted(error);
    }
  })();
  if ('kind' in child) return child;
  const { pid, stdin, stdout, stderr } = child;
  for (const part of [child, stdin, stdout, stderr]) part.on('error', () => {});
  if (pid === undefined) return { kind: 'not_started', code: 'EAGAIN', message: 'no shell could be started' };
  stdin.write(SETUP);

  const parts = [stdout, stderr, stdin].filter((part) => part instanceof Socket);
  /** It must not keep an idle worker alive, but one with a run under way. */
  const hold = (held: boolean) => {
    for (const part of [child, ...parts]) held ? part.ref() : part.unref();
  };
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const ended = new Promise<Ending>((resolve) => {
    child.once('exit', (code, signal) => {
      setTimeout(() => {
        stdout.destroy();
        stderr.destroy();
      }, DRAIN_MS).unref();
      child.once('close', () =>
        resolve(signal === null ? { kind: 'exited', exit_code: code ?? 0 } : { kind: 'killed', signal }),
      );
    });
  });
  hold(false);

  return {
    pid,
    gone,
    kill: () => signalGroup(pid, 'SIGKILL'),
    dismiss: () => stdin.end(),
    run: async (command, output) => {
      const mark = randomBytes(16).toString('hex');
      hold(true);
      const readers = [
        { from: stdout, to: output.stdout },
        { from: stderr, to: output.stderr },
      ].map(({ from, to }) => {
        let listener: (chunk: Buffer) => void = () => {};
        const status = new Promise<number>((resolve) => {
          listener = readToMark(mark, to, resolve);
          from.on('data', listener);
        });
        return { status, stop: () => from.off('data', listener) };
      });
      stdin.write(toShellCommand(command, mark));
      const finished = Promise.all(readers.map(({ status }) => status)).then(
        ([exit_code = 0]): Ending => ({ kind: 'exited', exit_code }),
      );
      const ending = await Promise.race([finished, ended]);
      for (const reader of readers) reader.stop();
      hold(false);
      return ending;
    },
  };
};

const notStarted = (error: unknown): Ending => ({
  kind: 'not_started',
  code: error instanceof Error && 'code' in error ? String(error.code) : '',
  message: error instanceof Error ? error.message : 'unknown',
});
