import { createEgress, type Egress } from '@capstan/egress';
import { Launcher, openContainment, type ResourceLimits, type SandboxLevel, type UserRange } from '@capstan/sandbox';
import type { Call, Runner, RunOutcome } from '../runner.js';
import type { Environment, ExecHost } from './exec-run.js';
import { createWorkPlaces, removeForgottenSessions } from './prepare/work-place.js';
import { runCall } from './run-call.js';

export type ExecRunnerOptions = {
  /** The directory for the work directories of runs and sessions. */
  work_dir: string;
  /** The source of a tool's PATH, LANG and LC_ALL, and of variables that a policy names. Nothing else of it is passed on. */
  env?: Environment;
  /** The directory with the executables of an extension, by their hash. */
  extension_tools?: ((tools_hash: string) => Promise<string>) | undefined;
  /** Network access for tools whose policy allows domains. */
  egress?: Egress | undefined;
  /** Limits of a run that differ from the defaults. */
  resources?: Partial<ResourceLimits> | undefined;
  /** Only these sandbox levels; by default the best that works. */
  sandbox_levels?: readonly SandboxLevel[] | undefined;
  /** The users that tools run as if the worker is root, one for each tenant. */
  tool_uids?: UserRange | undefined;
};

const DEFAULT_ENVIRONMENT = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' };

/** Runs command-line tools in the best available sandbox, by an argument list. A shell is used only if the policy allows it. */
export const createExecRunner = (options: ExecRunnerOptions): Runner => {
  let opening: Promise<ExecHost> | undefined;
  const host = (): Promise<ExecHost> => {
    opening ??= openHost(options);
    // A failure may be temporary, such as a full disk: the next run tries again.
    opening.catch(() => {
      opening = undefined;
    });
    return opening;
  };

  return {
    type: 'exec',
    run: async (call) => redactError(await runCall(host, call), call),
    close: async () => {
      const open = await opening?.catch(() => undefined);
      if (!open) return;
      await open.launcher.close();
      await open.containment.close();
    },
  };
};

const openHost = async (options: ExecRunnerOptions): Promise<ExecHost> => {
  const { work_dir, sandbox_levels: levels, tool_uids } = options;
  const containment = await openContainment({ work_dir, levels, tool_uids });
  await removeForgottenSessions(containment);
  let own: Egress | undefined;
  const egress = (): Egress => {
    own ??= options.egress ?? createEgress();
    return own;
  };
  const env = options.env ?? DEFAULT_ENVIRONMENT;
  const path = (env.PATH ?? '').split(':').filter((directory) => directory.startsWith('/'));
  const { resources = {}, extension_tools } = options;
  const places = createWorkPlaces(containment);
  const launcher = new Launcher(containment);
  return { env, path, places, launcher, containment, resources, extension_tools, egress };
};

/** An error message may quote the command line, and so a secret. */
const redactError = (outcome: RunOutcome, { redact }: Call): RunOutcome =>
  outcome.success ? outcome : { ...outcome, error: redact.text(outcome.error) };
