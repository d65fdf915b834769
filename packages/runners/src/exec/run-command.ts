import { execa } from 'execa';
import type { Command } from './build-command.js';
import type { Capture } from './capture-output.js';
import type { OrphanGuard } from './orphan-guard.js';
import { signalGroup } from './process-group.js';

export type Ending =
  | { kind: 'exited'; exit_code: number }
  | { kind: 'killed'; signal: string }
  | { kind: 'not_started'; code: string; message: string };

export type Running = { stdout: Capture; stderr: Capture; signal: AbortSignal; guard: OrphanGuard };

/** Time to end in good order after SIGTERM. */
const TERMINATION_MS = 500;
/** Time for the last output to arrive after the process has exited; then its children go, then their pipes. */
const DRAIN_MS = 100;

/**
 * Runs a command in a process group of its own, and returns soon after the command itself has ended: children that
 * outlive it are killed with the group, and pipes that are held open from outside of the group are let go.
 */
export const runCommand = async (command: Command, { stdout, stderr, signal, guard }: Running): Promise<Ending> => {
  const child = execa(command.file, command.args, {
    cwd: command.cwd,
    env: command.env,
    extendEnv: false,
    detached: true,
    buffer: false,
    encoding: 'buffer',
    reject: false,
    verbose: 'none',
    ...(command.stdin === undefined ? { stdin: 'ignore' } : { input: command.stdin }),
  });
  const { pid } = child;
  if (pid === undefined) {
    const { code, originalMessage } = await child;
    return { kind: 'not_started', code: code ?? '', message: originalMessage ?? 'unknown' };
  }

  guard.watch(pid, command.cwd);
  child.stdout.on('data', stdout.write);
  child.stderr.on('data', stderr.write);
  const timers: NodeJS.Timeout[] = [];
  const after = (ms: number, action: () => void) => timers.push(setTimeout(action, ms));
  const stop = () => {
    signalGroup(pid, 'SIGTERM');
    after(TERMINATION_MS, () => signalGroup(pid, 'SIGKILL'));
  };
  child.once('exit', () => {
    after(DRAIN_MS, () => signalGroup(pid, 'SIGKILL'));
    after(2 * DRAIN_MS, () => {
      child.stdout.destroy();
      child.stderr.destroy();
    });
  });
  signal.addEventListener('abort', stop, { once: true });
  try {
    const { exitCode, signal: killedBy } = await child;
    return killedBy === undefined ? { kind: 'exited', exit_code: exitCode ?? 0 } : { kind: 'killed', signal: killedBy };
  } finally {
    signal.removeEventListener('abort', stop);
    timers.forEach(clearTimeout);
    signalGroup(pid, 'SIGKILL');
    guard.release(pid);
  }
};
