import type { SandboxLevel as Level, SandboxFeature } from '@capstan/contracts';
import type { ResourceLimits } from './resource-limits.js';

export type SandboxLevel = Level;

/** A directory (or a single file) of the worker's machine, and its path for the tool. */
export type Mount = { source: string; path: string; file?: boolean; writable?: boolean };

/** A program and everything that it gets. It has no access to anything not listed here. */
export type Confined = {
  file: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  /** Variables whose values must not appear on a command line. */
  secret_env: Readonly<Record<string, string>>;
  work: Mount & { writable: boolean };
  /** In addition to the view of the system. Read-only unless marked writable. */
  mounts: readonly Mount[];
  /** Where temporary files go if the level has no private /tmp. */
  temporary: string | null;
  /** Brings up the loopback interface, the only way to reach anything else. */
  loopback: boolean;
  /** The network namespace: created for this run, or the one of the shell that starts it. No other run is in it. */
  network: 'own' | 'of_shell';
  /** Whether it may create internet sockets at all. */
  sockets: 'unix' | 'inet';
  /** Limits that it does not inherit from the process that starts it. */
  limits: Partial<ResourceLimits> & Pick<ResourceLimits, 'temporary_bytes'>;
  tty: boolean;
  /** It must not start another program. */
  exec_once: boolean;
};

/** The command that the worker starts. */
export type Launch = {
  file: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  cwd: string;
  uid?: number;
  gid?: number;
};

export type Sandbox = {
  level: SandboxLevel;
  /** Protections that are active in addition to the level. */
  features: readonly SandboxFeature[];
  /**
   * Which processes end with the run, whatever they do: the whole pid namespace, all descendants of our `init`, or only the
   * process group, which a process can leave.
   */
  holds: 'namespace' | 'descendants' | 'group';
  /** Whether the tool ends with the worker without the orphan guard. */
  dies_with_worker: boolean;
  /** Whether the tool sees its directory at `work.path`. Otherwise it is at `work.source`. */
  maps_paths: boolean;
  /** Whether it can prevent a program from starting another. */
  enforces_exec_once: boolean;
  /** The user that tools run as. It must own what they write to. */
  identity: Identity;
  /** The user that starts them: at the level `process` the worker's own, because `init` switches to the tool's user itself. */
  starter: Identity;
  /** A command prefix for the shell that starts runs. It creates what they can share, so that they need not create it. */
  around_shell: readonly string[];
  launch(confined: Confined): Launch;
};

/** The user that tools run as if the worker is root. Null: the worker's own user. */
export type Identity = { uid: number; gid: number } | null;

/** The text in `facts.sandbox` of a result. */
export const factOf = ({ level, features }: Pick<Sandbox, 'level' | 'features'>): string =>
  [level, ...features].join('+');
