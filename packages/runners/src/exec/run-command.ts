import type { Launch, Sandbox } from '../sandbox/sandbox.js';
import type { Capture } from './capture-output.js';
import type { OrphanGuard } from './orphan-guard.js';
import { signalGroup } from './process-group.js';
import type { Spawner } from './spawner/create-spawner.js';
import type { Ending } from './spawner/spawner-messages.js';

export type Running = {
  sandbox: Sandbox;
  stdin: string | undefined;
  stdout: Capture;
  stderr: Capture;
  signal: AbortSignal;
  /** Aborts when it writes without end: then it goes at once. */
  flood: AbortSignal;
  guard: OrphanGuard;
  spawner: Spawner;
};

/** Runs a command with pipes to its end, and passes on to it when it is to stop. */
export const runCommand = async (launch: Launch, running: Running): Promise<Ending> => {
  const { sandbox, stdin, stdout, stderr, signal, flood, guard, spawner } = running;
  let pid: number | undefined;
  const started = (its_pid: number) => {
    pid = its_pid;
    guard.watch(pid);
  };
  const hooks = { stdout: stdout.write, stderr: stderr.write, started };
  const run = spawner.run({ launch, stdin, level: sandbox.level }, hooks);
  const ask = () => run.stop('ask');
  signal.addEventListener('abort', ask, { once: true });
  flood.addEventListener('abort', () => run.stop('kill'), { once: true });
  try {
    return await run.ended;
  } finally {
    signal.removeEventListener('abort', ask);
    // It is gone already, unless the spawner itself was.
    if (pid !== undefined) signalGroup(pid, 'SIGKILL');
    if (pid !== undefined) guard.release(pid);
  }
};
