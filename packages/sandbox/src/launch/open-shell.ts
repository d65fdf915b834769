import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import type { Identity } from '../sandbox.js';
import { closePipe, type Pipe } from './open-pipe.js';
import { signalGroup } from './processes.js';
import { type ShellCommand, toShellCommand } from './shell-command.js';

/** How a run ended. */
export type Ending =
  | { kind: 'exited'; exit_code: number }
  | { kind: 'killed'; signal: string }
  | { kind: 'not_started'; code: string; message: string };

export type Output = { stdout(chunk: Uint8Array): void; stderr(chunk: Uint8Array): void };

/** A shell that waits for commands and runs them one at a time, in its own process group. */
export type Shell = {
  /** The leader of its process group. */
  leader: number;
  /** Resolves with its process id when it is ready for commands. */
  waits: Promise<number>;
  /** Resolves when everything that it started is gone. */
  run(command: ShellCommand, output: Output): Promise<Ending>;
  /** Kills the shell and what it runs. */
  kill(): void;
  /** Lets it exit by itself. It must not be used any more. */
  dismiss(): void;
  gone: Promise<void>;
};

export type ShellOptions = {
  /** A command prefix that sets limits and creates namespaces, which everything that the shell starts inherits. */
  around: readonly string[];
  sh: string;
  identity: Identity;
  /** One for each stream of each run. */
  openPipe(): Pipe;
};

/** Time for the last output to arrive. Without it, a process that inherited a pipe could hold it open. */
const DRAIN_MS = 100;
/**
 * SIGTERM goes to the whole group. The shell must survive it, but what it starts must not ignore it, hence `trap :`. The shell's own
 * messages (how a command was killed) are discarded. On descriptor 3 it reports its pid and the status of each command; no command
 * has that descriptor.
 */
const SETUP = 'trap : TERM; exec 2>/dev/null; echo $$ >&3\n';

export const openShell = ({ around, sh, identity, openPipe }: ShellOptions): Shell | Ending => {
  const [file = sh, ...args] = [...around, sh];
  const stdio = ['pipe', 'ignore', 'ignore', 'pipe'] as const;
  // Not execa, which accepts no descriptors of ours.
  const child = spawn(file, args, { stdio: [...stdio], detached: true, env: {}, cwd: '/', ...identity });
  const { pid, stdin } = child;
  const told = child.stdio[3];
  for (const part of [child, stdin, told]) part?.on('error', () => {});
  if (pid === undefined || !(stdin instanceof Socket) || !(told instanceof Socket))
    return { kind: 'not_started', code: 'EAGAIN', message: 'no shell could be started' };
  stdin.write(SETUP);

  /** A waiting shell must not keep an idle worker alive; a running command must. */
  const hold = (held: boolean) => {
    for (const part of [child, stdin, told]) held ? part.ref() : part.unref();
  };
  const exit = once(child, 'exit');
  const gone = exit.then(() => {});
  const ended = exit.then(
    ([code, signal]: (number | string | null)[]): Ending =>
      typeof signal === 'string' ? { kind: 'killed', signal } : { kind: 'exited', exit_code: Number(code) },
  );
  const lines = readLines(told);
  const waits = Promise.race([
    lines().then(Number),
    gone.then(() => Promise.reject(new Error('the shell did not start'))),
  ]).finally(() => hold(false));
  waits.catch(() => {});

  return {
    leader: pid,
    waits,
    gone,
    kill: () => {
      // A caller may be waiting for `gone`.
      child.ref();
      signalGroup(pid, 'SIGKILL');
    },
    dismiss: () => stdin.end(),
    run: async (command, output) => {
      hold(true);
      const pipes = [openPipe(), openPipe()] as const;
      const [stdout, stderr] = pipes;
      stdout.reader.on('data', output.stdout);
      stderr.reader.on('data', output.stderr);
      const drained = Promise.all(pipes.map(({ reader }) => once(reader, 'close')));
      stdin.write(toShellCommand(command, { stdout: stdout.name, stderr: stderr.name }));
      const finished = lines().then((status): Ending => ({ kind: 'exited', exit_code: Number(status) }));
      const ending = await Promise.race([finished, ended]);
      for (const pipe of pipes) closePipe(pipe);
      let late: NodeJS.Timeout | undefined;
      const over = new Promise<'over'>((resolve) => {
        late = setTimeout(resolve, DRAIN_MS, 'over');
      });
      const how = await Promise.race([drained, over]);
      clearTimeout(late);
      // On a busy machine the time may be over before Node has polled the pipes. It reads all that a pipe holds in one turn.
      for (let turn = 0; how === 'over' && turn < 2; turn += 1) await setImmediate();
      for (const { reader } of pipes) reader.destroy();
      hold(false);
      return ending;
    },
  };
};

/** Returns the next line on each call. After the pipe has ended, the promise stays pending. */
const readLines = (from: Socket): (() => Promise<string>) => {
  const lines: string[] = [];
  const waiting: ((line: string) => void)[] = [];
  let rest = '';
  from.on('data', (chunk: Buffer) => {
    const parts = (rest + chunk.toString('latin1')).split('\n');
    rest = parts.pop() ?? '';
    for (const line of parts) {
      const next = waiting.shift();
      if (next) next(line);
      else lines.push(line);
    }
  });
  return () =>
    new Promise((resolve) => {
      const line = lines.shift();
      if (line === undefined) waiting.push(resolve);
      else resolve(line);
    });
};
