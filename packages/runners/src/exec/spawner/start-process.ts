import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { signalGroup } from '../process-group.js';
import { askToEnd } from '../stop-process.js';
import type { Ending, Order, Stop } from './spawner-messages.js';

/** Time to end in good order after SIGTERM. */
export const TERMINATION_MS = 500;
/** Time for the last output to arrive after the process has exited; then its children go, then their pipes. */
const DRAIN_MS = 100;

export type Started = {
  pid: number;
  stdout: Readable;
  stderr: Readable;
  stop(how: Stop): void;
  ended: Promise<Ending>;
};

type Child = ChildProcessByStdio<Writable | null, Readable, Readable>;

/**
 * Starts a command in a process group of its own. It has ended soon after the command itself has: children that outlive
 * it are killed with the group or the namespace, and pipes that are held open from outside of both are let go.
 */
export const startProcess = ({ launch, stdin, level }: Order): Started | Promise<Ending> => {
  const child = spawnChild(launch, stdin);
  if ('kind' in child) return Promise.resolve(child);
  const { pid } = child;
  if (pid === undefined) return new Promise((resolve) => child.once('error', (error) => resolve(notStarted(error))));
  // It may end, or close its input, before it has read all of it.
  child.stdin?.on('error', () => {});
  child.stdin?.end(stdin);

  const timers: NodeJS.Timeout[] = [];
  const after = (ms: number, action: () => void) => timers.push(setTimeout(action, ms));
  const kill = () => signalGroup(pid, 'SIGKILL');
  const letGo = () => {
    // Somebody still has to take what it wrote.
    if (child.stdout.isPaused() || child.stderr.isPaused()) return after(DRAIN_MS, letGo);
    // Timers come before what the pipes hold when this process was busy meanwhile; an immediate comes after it.
    return setImmediate(() => {
      child.stdout.destroy();
      child.stderr.destroy();
    });
  };
  child.once('exit', () => {
    after(DRAIN_MS, kill);
    after(2 * DRAIN_MS, letGo);
  });
  const ended = new Promise<Ending>((resolve) => {
    child.once('close', (code, signal) => {
      timers.forEach(clearTimeout);
      kill();
      resolve(signal === null ? { kind: 'exited', exit_code: code ?? 0 } : { kind: 'killed', signal });
    });
  });
  const stop = (how: Stop) => {
    if (how === 'kill') return kill();
    askToEnd(level, pid);
    after(TERMINATION_MS, kill);
  };
  return { pid, stdout: child.stdout, stderr: child.stderr, stop, ended };
};

/**
 * The one place that does without execa. Every run passes through here, and execa's own work (options for each stream,
 * abort controllers, the result) was measured at 1.3 ms of processor time for each, where bubblewrap with all it does
 * takes 7; none of it is used here.
 */
const spawnChild = ({ file, args, ...launch }: Order['launch'], stdin: string | undefined): Child | Ending => {
  const options = { ...launch, detached: true };
  try {
    return stdin === undefined
      ? spawn(file, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
      : spawn(file, args, { ...options, stdio: ['pipe', 'pipe', 'pipe'] });
  } catch (error) {
    // Some reasons are thrown; the others arrive as an event.
    return notStarted(error);
  }
};

const notStarted = (error: unknown): Ending => ({
  kind: 'not_started',
  code: error instanceof Error && 'code' in error ? String(error.code) : '',
  message: error instanceof Error ? error.message : 'unknown',
});
