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
  flood: AbortSignal;
  guard: OrphanGuard;
  cgroups: Cgroups | null;
  launcher: Launcher;
};

/** Runs a command with pipes to its end, and passes on to it when it is to stop. */
export const runCommand = async (launch: Launch, running: Running): Promise<Launched> => {
  const { sandbox, limits, tenant, stdin, stdout, stderr, signal, flood, launcher } = running;
  const run = launcher.run({ launch, stdin, sandbox, limits, tenant }, { stdout: stdout.write, stderr: stderr.write });
  const ask = () => run.stop('ask');
  signal.addEventListener('abort', ask, { once: true });
  flood.addEventListener('abort', () => run.stop('kill'), { once: true });
  // While its place was made ready: whoever listens now is told nothing any more.
  if (signal.aborted) ask();
  try {
    return await run.ended;
  } finally {
    signal.removeEventListener('abort', ask);
  }
};
