import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { signalGroup } from '../exec/process-group.js';
import { killUntilGone } from '../exec/signal-run.js';
import type { Launch, Sandbox } from '../sandbox/sandbox.js';

/** A process with pipes that outlives a call; `kill` leaves nothing of it. */
export type ContainedProcess = {
  pid: number;
  stdin: Writable;
  stdout: Readable;
  stderr: Readable;
  kill(): void;
  /** Resolves when it has ended and its output has been read, with how that was. */
  exited: Promise<string>;
};

/** Time for the last output to arrive; then whoever holds the pipes is let go. */
const DRAIN_MS = 200;

/** Starts what a sandbox has prepared, in a process group of its own. */
export async function startContained(launch: Launch, sandbox: Sandbox): Promise<ContainedProcess> {
  const { file, args, env, cwd, ...identity } = launch;
  const child = spawn(file, args, { cwd, env: { ...env }, ...identity, detached: true, stdio: 'pipe', shell: false });
  await once(child, 'spawn');
  // Whatever else goes wrong with it ends it, and its end is told below.
  for (const part of [child, child.stdin, child.stdout, child.stderr]) part.on('error', () => {});
  const { pid = 0 } = child;
  let stopKilling: (() => void) | undefined;
  const kill = () => {
    stopKilling ??= killUntilGone(sandbox, () => [pid], pid);
  };
  const exited = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => {
      stopKilling?.();
      // Where nothing holds what it has started.
      if (sandbox.holds === 'group') signalGroup(pid, 'SIGKILL');
      const late = setTimeout(() => {
        child.stdout.destroy();
        child.stderr.destroy();
      }, DRAIN_MS);
      child.once('close', () => {
        clearTimeout(late);
        resolve(signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`);
      });
    });
  });
  return { pid, stdin: child.stdin, stdout: child.stdout, stderr: child.stderr, kill, exited };
}
