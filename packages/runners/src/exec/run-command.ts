import type { Cgroups } from '../sandbox/cgroup/open-cgroups.js';
import type { ResourceLimits } from '../sandbox/resource-limits.js';
import type { Launch, Sandbox } from '../sandbox/sandbox.js';
import type { Capture } from './capture-output.js';
import type { Launched, Launcher } from './launcher/create-launcher.js';
import type { OrphanGuard } from './orphan-guard.js';

export type Running = {
  sandbox: Sandbox;
  limits: ResourceLimits;
  tenant: string;
  stdin: string | undefined;
  stdout: Capture;
  stderr: Capture;
  signal: AbortSignal;
  /** Aborts when it writes without end: then it goes at once. */
  excess: AbortSignal;
  /** Told the process that all of the run descends from. */
  onStart(starter: number): void;
  guard: OrphanGuard;
  cgroups: Cgroups | null;
  launcher: Launcher;
};

/** Runs a command with pipes to its end, and passes on to it when it is to stop. */
export const runCommand = async (launch: Launch, running: Running): Promise<Launched> => {
  const { sandbox, limits, tenant, stdin, stdout, stderr, signal, excess, onStart, launcher } = running;
  const order = { launch, stdin, sandbox, limits, tenant, onStart };
  const run = launcher.run(order, { stdout: stdout.write, stderr: stderr.write });
  const ask = () => run.stop('ask');
  signal.addEventListener('abort', ask, { once: true });
  excess.addEventListener('abort', () => run.stop('kill'), { once: true });
  // While its place was made ready: whoever listens now is told nothing any more.
  if (signal.aborted) ask();
  try {
    return await run.ended;
  } finally {
    signal.removeEventListener('abort', ask);
  }
};
