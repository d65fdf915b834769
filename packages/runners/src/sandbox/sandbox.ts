import type { SandboxLevel as Level, SandboxFeature } from '@capstan/contracts';
import type { ResourceLimits } from './resource-limits.js';

export type SandboxLevel = Level;

/** A directory (or one file) of the worker's machine, and where the tool finds it. */
export type Mount = { source: string; path: string; file?: boolean; writable?: boolean };

/** A program and all that it gets. What is not named here is not there for it. */
export type Confined = {
  file: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  /** Variables whose values may appear on no command line. */
  secret_env: Readonly<Record<string, string>>;
  work: Mount & { writable: boolean };
  /** Beside the system; read-only unless they say otherwise. */
  mounts: readonly Mount[];
  /** Where temporary files go when there is no /tmp of its own. */
  temporary: string | null;
  /** The loopback interface is up; nothing else is ever reachable but through it. */
  loopback: boolean;
  /** Without anybody else in it: made for this run, or the one that the shell which starts it waits in. */
  network: 'own' | 'of_shell';
  /** Whether it can make sockets of the internet at all. */
  sockets: 'unix' | 'inet';
  /** Those that it does not have from whoever starts it. */
  limits: Partial<ResourceLimits> & Pick<ResourceLimits, 'temporary_bytes'>;
  tty: boolean;
  /** It may start no other program. */
  exec_once: boolean;
};

/** What the worker really starts. */
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
  /** What is in force beside the level. */
  features: readonly SandboxFeature[];
  /**
   * What ends with a run, whatever its processes do: all of a pid namespace; all descendants of our `init`; or only the process
   * group, which a process can leave.
   */
  holds: 'namespace' | 'descendants' | 'group';
  /** Whether the tool dies with the worker without any help. */
  dies_with_worker: boolean;
  /** Whether the tool sees its own directory under `work.path`; else under `work.source`. */
  maps_paths: boolean;
  /** Whether it can keep a program from starting another. */
  enforces_exec_once: boolean;
  /** Who the tools run as, and must own what they write to. */
  identity: Identity;
  /** Who starts them: `init` becomes the tool's user by itself. */
  starter: Identity;
  /** In front of a shell that starts one run after the other: what these need not make for themselves. */
  around_shell: readonly string[];
  launch(confined: Confined): Launch;
};

/** The user that tools run as when the worker is root; null: the worker's own. */
export type Identity = { uid: number; gid: number } | null;

/** As results tell of it. */
export const factOf = ({ level, features }: Pick<Sandbox, 'level' | 'features'>): string =>
  [level, ...features].join('+');
