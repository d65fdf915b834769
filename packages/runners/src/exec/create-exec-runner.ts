import { rm, rmdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Failure } from '@capstan/contracts';
import { createEgress, type Egress } from '@capstan/egress';
import type { Call, Runner, RunOutcome } from '../runner.js';
import { openCgroups } from '../sandbox/cgroup/open-cgroups.js';
import { openContainment } from '../sandbox/containment.js';
import { requireSandbox, sandboxNeeds } from '../sandbox/require-sandbox.js';
import type { ResourceLimits } from '../sandbox/resource-limits.js';
import type { SandboxLevel } from '../sandbox/sandbox.js';
import type { UserRange } from '../sandbox/tool-users.js';
import type { Environment, ExecHost } from './exec-run.js';
import { createLauncher } from './launcher/create-launcher.js';
import { withRun } from './open-run.js';
import { createOrphanGuard } from './orphan-guard.js';
import type { Program } from './program.js';
import { invalid, refused } from './refused.js';
import { resolveSecrets } from './resolve-secrets.js';
import { runContained } from './run-contained.js';
import { fitsTerminal, MAX_LINE } from './run-in-terminal.js';
import { toProgram } from './to-program.js';
import { createWorkPlaces, removeForgottenSessions } from './work-place.js';

export type ExecRunnerOptions = {
  /** Runs and sessions have their directories in here. */
  work_dir: string;
  /** Where a tool's PATH, LANG and LC_ALL come from, and what a policy names; nothing else of it is passed on. */
  env?: Environment;
  /** The directory with the executables of an extension, by their hash. */
  extension_tools?: ((tools_hash: string) => Promise<string>) | undefined;
  /** The way out for tools that the policy grants domains to. */
  egress?: Egress | undefined;
  /** What a run may use, where it should not be the default. */
  resources?: Partial<ResourceLimits> | undefined;
  /** Only these levels of containment; the best that works by default. */
  sandbox_levels?: readonly SandboxLevel[] | undefined;
  /** The users that tools run as where the worker is root, one for each tenant. */
  tool_uids?: UserRange | undefined;
};

const DEFAULT_ENVIRONMENT = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' };

/** Runs command-line tools: an argument list, never a shell unless the policy grants one, in the best sandbox there is. */
export const createExecRunner = (options: ExecRunnerOptions): Runner => {
  let opening: Promise<ExecHost> | undefined;
  const host = (): Promise<ExecHost> => {
    opening ??= openHost(options);
    // What failed once may work later: a disk that was full.
    opening.catch(() => {
      opening = undefined;
    });
    return opening;
  };

  return {
    type: 'exec',
    run: async (call) => redactError(await run(host, call), call),
    close: async () => {
      const open = await opening?.catch(() => undefined);
      if (!open) return;
      await open.launcher.close();
      await open.guard.close();
      await rm(open.containment.directory, { recursive: true, force: true });
      // One that was made elsewhere goes as well, unless sessions have their files there.
      if (open.containment.root !== resolve(options.work_dir)) await rmdir(open.containment.root).catch(() => {});
    },
  };
};

const openHost = async (options: ExecRunnerOptions): Promise<ExecHost> => {
  const { work_dir, sandbox_levels: levels, tool_uids } = options;
  const containment = await openContainment({ work_dir, levels, tool_uids });
  await removeForgottenSessions(containment);
  const cgroups = containment.has_namespaces ? openCgroups() : null;
  const guard = createOrphanGuard(containment.directory, cgroups?.folders);
  guard.start();
  let own: Egress | undefined;
  const egress = (): Egress => {
    own ??= options.egress ?? createEgress();
    return own;
  };
  const env = options.env ?? DEFAULT_ENVIRONMENT;
  const path = (env.PATH ?? '').split(':').filter((directory) => directory.startsWith('/'));
  const { resources = {}, extension_tools } = options;
  const places = createWorkPlaces(containment);
  const launcher = createLauncher({ guard, cgroups, directory: containment.directory });
  return { env, path, places, launcher, cgroups, containment, guard, resources, extension_tools, egress };
};

const run = async (host: () => Promise<ExecHost>, call: Call): Promise<RunOutcome> => {
  const program = toProgram(call);
  if ('success' in program) return program;
  if (call.descriptor.effects.interactive && !program.tty) return interactive(program);
  try {
    const open = await host();
    const needs = sandboxNeeds(call.limits, call.descriptor.risk);
    const sandbox = requireSandbox(open.containment.sandboxFor(call.tenant), needs);
    const secrets = await resolveSecrets(program, call, sandbox);
    if ('success' in secrets) return secrets;
    if (program.tty && !fitsTerminal(secrets.stdin ?? ''))
      return invalid(`a line of stdin is longer than a terminal takes (${MAX_LINE} bytes); pass it without tty`);
    if (call.signal.aborted) return refused('CANCELED', 'stopped before it began');
    return await withRun(open, sandbox, { program, secrets, call }, runContained);
  } catch (error) {
    if (error instanceof Failure) return { ...refused(error.kind, error.message), retryable: error.retryable };
    throw error;
  }
};

const interactive = ({ file }: Program) =>
  refused('INTERACTIVE_NOT_SUPPORTED', `${file} asks questions while it runs, and nobody is there to answer them`);

/** A message may quote the command line, and a secret may stand there. */
const redactError = (outcome: RunOutcome, { redact }: Call): RunOutcome =>
  outcome.success ? outcome : { ...outcome, error: redact.text(outcome.error) };
