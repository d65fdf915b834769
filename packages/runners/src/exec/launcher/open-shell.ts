import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { setTimeout as delay, setImmediate } from 'node:timers/promises';
import type { Identity } from '../../sandbox/sandbox.js';
import { signalGroup } from '../process-group.js';
import type { Ending } from './ending.js';
import { closePipe, type Pipe } from './open-pipe.js';
import { type ShellCommand, toShellCommand } from './shell-command.js';

export type Output = { stdout(chunk: Uint8Array): void; stderr(chunk: Uint8Array): void };

/** A shell that waits for commands and runs them one after the other, in a process group of its own. */
export type Shell = {
  /** Of the process group that it is in. */
  leader: number;
  /** Its process id, as soon as it waits for commands. */
  waits: Promise<number>;
  /** Resolves when what it started is gone, with how it ended. */
  run(command: ShellCommand, output: Output): Promise<Ending>;
  /** Kills what runs, and the shell with it. */
  kill(): void;
  /** Lets it end by itself; it is not to be used any more. */
  dismiss(): void;
  gone: Promise<void>;
};

export type ShellOptions = {
  /** In front of the shell's own name: what sets limits and makes namespaces, which everything it starts has from it. */
  around: readonly string[];
  sh: string;
  identity: Identity;
  /** One for each stream of each run. */
  openPipe(): Pipe;
};

/** Time for the last output to arrive; a pipe may have been handed to somebody who holds it open. */
const DRAIN_MS = 100;
/**
 * Asked to end, the whole group is; the shell must survive it, and what it starts must not inherit that. What the shell itself has to say
 * (how a command was killed) goes nowhere. On 3 it tells its number, and how each command has ended; no command has it.
 */
const SETUP = 'trap : TERM; exec 2>/dev/null; echo $$ >&3\n';

export const openShell = ({ around, sh, identity, openPipe }: ShellOptions): Shell | Ending => {
  const [file = sh, ...args] = [...around, sh];
  const stdio = ['pipe', 'ignore', 'ignore', 'pipe'] as const;
  // Not execa, which takes no descriptors of ours.
  const child = spawn(file, args, { stdio: [...stdio], detached: true, env: {}, cwd: '/', ...identity });
  const { pid, stdin } = child;
  const told = child.stdio[3];
  for (const part of [child, stdin, told]) part?.on('error', () => {});
  if (pid === undefined || !(stdin instanceof Socket) || !(told instanceof Socket))
    return { kind: 'not_started', code: 'EAGAIN', message: 'no shell could be started' };
  stdin.write(SETUP);

  /** Once it waits, it must not keep an idle worker alive, but one with a run under way. */
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
      // Somebody may wait until it is gone.
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
      const late = new AbortController();
      const over = delay(DRAIN_MS, 'over' as const, { signal: late.signal });
      const how = await Promise.race([drained, over]).finally(() => late.abort());
      // On a busy machine the time may be over before Node has looked. It reads all that a pipe holds in one turn.
      for (let turn = 0; how === 'over' && turn < 2; turn += 1) await setImmediate();
      for (const { reader } of pipes) reader.destroy();
      hold(false);
      return ending;
    },
  };
};

/** The next line each time it is asked; of a pipe that has ended none ever comes. */
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
