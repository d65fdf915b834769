import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Identity } from '../../sandbox/sandbox.js';
import { signalGroup } from '../process-group.js';
import type { Ending } from './ending.js';
import { closeWriters, openPipes } from './open-pipe.js';
import { readToMark } from './read-to-mark.js';
import { type ShellCommand, toShellCommand } from './shell-command.js';

export type Output = { stdout(chunk: Uint8Array): void; stderr(chunk: Uint8Array): void };

/** A shell that waits for commands and runs them one after the other, in a process group of its own. */
export type Shell = {
  /** Of the process group that it is in. */
  leader: number;
  /** Its process id, as soon as it waits for commands. */
  waits: Promise<number>;
  run(command: ShellCommand, output: Output): Promise<Ending>;
  /** Kills what runs, and the shell with it. */
  kill(): void;
  /** Lets it end by itself; it is not to be used any more. */
  dismiss(): void;
  gone: Promise<void>;
  /** Whether all that its last run started is gone, once it is; false when that takes too long. */
  settled(patience_ms: number): Promise<boolean>;
};

export type ShellOptions = {
  /** In front of the shell's own name: what sets limits and makes namespaces, which everything it starts has from it. */
  around: readonly string[];
  sh: string;
  identity: Identity;
  /** Where its pipes are made. */
  directory: string;
};

/** Time for the last output to arrive once the shell is gone; pipes may be held open from outside. */
const DRAIN_MS = 100;
/**
 * Asked to end, the whole group is; the shell must survive it, and what it starts must not inherit that. What the shell
 * itself has to say (how a command was killed) goes nowhere; commands get the real stderr from 4. 3 is for bubblewrap.
 */
const SETUP = 'trap : TERM; exec 4>&2 2>/dev/null; echo $$ >&3\n';

export const openShell = ({ around, sh, identity, directory }: ShellOptions): Shell | Ending => {
  const [file = sh, ...args] = [...around, sh];
  const pipes = openPipes(directory, identity, 3);
  const [stdout, stderr, info] = pipes.map(({ reader }) => reader);
  const writers = pipes.map(({ writer }) => writer);
  if (!stdout || !stderr || !info) return unstartable('no pipes');
  // Not execa, which takes no descriptors of ours.
  const child = spawn(file, args, { stdio: ['pipe', ...writers], detached: true, env: {}, cwd: '/', ...identity });
  closeWriters(pipes);
  const { pid, stdin } = child;
  for (const part of [child, stdin, stdout, stderr, info]) part?.on('error', () => {});
  if (pid === undefined || !(stdin instanceof Socket)) return unstartable('no shell could be started');
  stdin.write(SETUP);

  /** Once it waits, it must not keep an idle worker alive, but one with a run under way. */
  const hold = (held: boolean) => {
    for (const part of [child, stdin, stdout, stderr, info]) held ? part.ref() : part.unref();
  };
  const gone = once(child, 'exit').then(() => {});
  const ended = (async (): Promise<Ending> => {
    const drained = Promise.all([stdout, stderr].map((pipe) => once(pipe, 'close')));
    const [code, signal]: (number | string | null)[] = await once(child, 'exit');
    await Promise.race([drained, delay(DRAIN_MS, undefined, { ref: false })]);
    for (const pipe of [stdout, stderr, info]) pipe.destroy();
    return typeof signal === 'string' ? { kind: 'killed', signal } : { kind: 'exited', exit_code: Number(code) };
  })();

  const waits = Promise.race([
    once(info, 'data').then(([pid]: Buffer[]) => Number(pid)),
    gone.then(() => Promise.reject(new Error('the shell did not start'))),
  ]).finally(() => hold(false));
  waits.catch(() => {});

  let told = '';
  info.on('data', (chunk: Buffer) => {
    told += chunk.toString('latin1');
  });
  let expects_init = false;

  const read = (from: Socket, mark: string, to: (chunk: Uint8Array) => void) => {
    let listener: (chunk: Buffer) => void = () => {};
    const status = new Promise<number>((resolve) => {
      listener = readToMark(mark, to, resolve);
      from.on('data', listener);
    });
    return { status, stop: () => from.off('data', listener) };
  };

  return {
    leader: pid,
    waits,
    gone,
    kill: () => signalGroup(pid, 'SIGKILL'),
    dismiss: () => stdin.end(),
    run: async (command, output) => {
      const mark = randomUUID();
      hold(true);
      told = '';
      expects_init = command.tells_init;
      const readers = [read(stdout, mark, output.stdout), read(stderr, mark, output.stderr)];
      stdin.write(toShellCommand(command, mark));
      const finished = Promise.all(readers.map(({ status }) => status)).then(
        ([exit_code = 0]): Ending => ({ kind: 'exited', exit_code }),
      );
      const ending = await Promise.race([finished, ended]);
      for (const reader of readers) reader.stop();
      hold(false);
      return ending;
    },
    settled: async (patience_ms) => {
      if (!expects_init) return true;
      const until = performance.now() + patience_ms;
      while (performance.now() < until) {
        const [, init] = /"child-pid": (\d+)/.exec(told) ?? [];
        if (init !== undefined && isDeserted(Number(init))) return true;
        await delay(1);
      }
      return false;
    },
  };
};

/**
 * Whether nothing is left of a namespace but its first process, bubblewrap's own, which starts nothing: all others descend from
 * it. Taking the namespace apart, for which it stays, concerns nobody.
 */
const isDeserted = (init: number): boolean => {
  const task = `/proc/${init}/task/${init}`;
  try {
    return readFileSync(`${task}/children`, 'latin1') === '';
  } catch {
    // It is gone; or the kernel does not tell, and it has to be waited for.
    return hasEnded(task);
  }
};

const hasEnded = (task: string): boolean => {
  try {
    return /\) [ZX] /.test(readFileSync(`${task}/stat`, 'latin1'));
  } catch {
    return true;
  }
};

const unstartable = (message: string): Ending => ({ kind: 'not_started', code: 'EAGAIN', message });
