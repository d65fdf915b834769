import type { SandboxFeature } from '@capstan/contracts';
import { type Launch, type ResourceLimits, resourceLimits } from '@capstan/sandbox';
import type { ToolFailure } from '../../runner.js';
import type { ExecRun } from '../exec-run.js';
import { refused } from '../refused.js';
import type { Found } from './find-program.js';
import type { Judged } from './judge-program.js';
import type { NetworkAccess } from './network-access.js';
import { environmentOf } from './tool-environment.js';

/** A run in its sandbox: the command to start, and the protections that are active. */
export type Contained = {
  launch: Launch;
  limits: ResourceLimits;
  network: NetworkAccess | null;
  features: readonly SandboxFeature[];
};

/** Builds the command line that starts the tool in its sandbox. */
export const contain = (
  run: ExecRun,
  found: Found,
  judged: Judged,
  network: NetworkAccess | null,
): Contained | ToolFailure => {
  const { sandbox, program, secrets } = run;
  // If the network bridge starts the tool, the tool is not the first program, so `exec_once` cannot apply.
  const exec_once = judged.exec_once !== null && network === null && sandbox.enforces_exec_once;
  if (judged.exec_once === 'required' && !exec_once) return refused('SANDBOX_UNAVAILABLE', cannotEnforce(program.file));
  const limits = resourcesFor(run);
  const [file = '', ...args] = [...(network?.command ?? []), found.file, ...program.args];
  const launch = sandbox.launch({
    file,
    args,
    env: environmentOf(run),
    secret_env: secrets.env,
    work: run.work,
    mounts: [...(run.tools ? [run.tools] : []), ...(found.mount ? [found.mount] : []), ...(network?.mounts ?? [])],
    temporary: run.temporary,
    loopback: network !== null,
    network: program.tty || network !== null ? 'own' : 'of_shell',
    sockets: network === null ? 'unix' : 'inet',
    limits: program.tty ? limits : leftToSet(run, limits),
    tty: program.tty,
    exec_once,
  });
  return { launch, limits, network, features: exec_once ? [...sandbox.features, 'exec_once'] : sandbox.features };
};

/** With these arguments only the kernel could prevent the program from starting others. */
const cannotEnforce = (file: string): string =>
  `${file} may start no other program (exec_once), and this worker's sandbox cannot enforce that for this run: it needs seccomp, and ` +
  'a run without network';

/** The limits that neither the shell that starts the run nor its cgroup has set. */
const leftToSet = (
  { host, sandbox }: ExecRun,
  { processes, temporary_bytes }: ResourceLimits,
): Partial<ResourceLimits> & Pick<ResourceLimits, 'temporary_bytes'> =>
  host.containment.cgroups !== null && sandbox.holds === 'namespace'
    ? { temporary_bytes }
    : { temporary_bytes, processes };

/** The limits of this run: the defaults, the worker's settings, and the policy's limits on sizes. */
const resourcesFor = ({ host, sandbox, call: { limits } }: ExecRun): ResourceLimits => ({
  ...resourceLimits(sandbox, limits.timeout_ms),
  ...(limits.max_size_bytes === undefined ? {} : { file_bytes: limits.max_size_bytes }),
  ...host.resources,
});
