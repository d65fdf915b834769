import { PROCESSES_OF_A_USER, processesPerRun } from '../sandbox/find-sandboxes.js';
import { cpuSeconds, DEFAULT_LIMITS, type ResourceLimits } from '../sandbox/resource-limits.js';
import type { ExecRun } from './exec-run.js';

const PROCESSES = processesPerRun(DEFAULT_LIMITS.processes);

/** What neither the shell that starts a run nor its cgroup has set: see `launcher/`. */
export const leftToSet = (
  { host, sandbox }: ExecRun,
  { processes, temporary_bytes }: ResourceLimits,
): Partial<ResourceLimits> & Pick<ResourceLimits, 'temporary_bytes'> =>
  host.cgroups !== null && sandbox.holds === 'namespace' ? { temporary_bytes } : { temporary_bytes, processes };

/** What this run may use: the defaults, what the worker is set to, and what the policy says of sizes. */
export const resourcesFor = ({ host, sandbox, call: { limits } }: ExecRun): ResourceLimits => ({
  ...DEFAULT_LIMITS,
  processes: sandbox.holds === 'namespace' ? PROCESSES : PROCESSES_OF_A_USER,
  cpu_seconds: cpuSeconds(limits.timeout_ms),
  ...(limits.max_size_bytes === undefined ? {} : { file_bytes: limits.max_size_bytes }),
  ...host.resources,
});
