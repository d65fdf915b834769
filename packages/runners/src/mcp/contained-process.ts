import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { killUntilGone, type Launch, type Sandbox, signalGroup } from '@capstan/sandbox';

/** A process with pipes that can outlive a call. `kill` ends it with all its descendants. */
export type ContainedProcess = {
  pid: number;
  stdin: Writable;
  stdout: Readable;
  stderr: Readable;
  kill(): void;
  /** Resolves when it has exited and its output has been read, with a description of how it ended. */
  exited: Promise<string>;
};

/** Time for the last output to arrive. After that the pipes are closed, even if another process still has them open. */
const DRAIN_MS = 200;

/** Starts the command of a sandbox in its own process group. */
export async function startContained(launch: Launch, sandbox: Sandbox): Promise<ContainedProcess> {
  const { file, args, env, cwd, ...identity } = launch;
  const child = spawn(file, args, { cwd, env: { ...env }, ...identity, detached: true, stdio: 'pipe', shell: false });
  await once(child, 'spawn');
  // Later errors are ignored here: they end the process, and `exited` reports that.
  for (const part of [child, child.stdin, child.stdout, child.stderr]) part.on('error', () => {});
  const { pid = 0 } = child;
  let stopKilling: (() => void) | undefined;
  const kill = () => {
    stopKilling ??= killUntilGone(sandbox, () => [pid], pid);
  };
  const exited = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => {
      stopKilling?.();
      // At this level nothing else ends the processes that it has started.
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
