import type { RunFacts } from '@capstan/contracts';
import type { ResourceLimits } from './resource-limits.js';

export type SandboxLevel = NonNullable<RunFacts['sandbox']>;

/** A directory (or one file) of the worker's machine, and where the tool finds it. */
export type Mount = { source: string; path: string; file?: boolean };

/** A program and all that it gets. What is not named here is not there for it. */
export type Confined = {
  file: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  /** Variables whose values may appear on no command line. */
  secret_env: Readonly<Record<string, string>>;
  work: Mount & { writable: boolean };
  /** Read-only, beside the system. */
  mounts: readonly Mount[];
  /** The loopback interface is up; nothing else is ever reachable but through it. */
  loopback: boolean;
  /** Without anybody else in it: made for this run, or the one that the shell which starts it waits in. */
  network: 'own' | 'of_shell';
  /** Those that it does not have from whoever starts it. */
  limits: Partial<ResourceLimits> & Pick<ResourceLimits, 'temporary_bytes'>;
  tty: boolean;
  /** It may start no other program. */
  exec_once?: boolean;
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
  /** Whether a pid namespace holds the tool with all its children, whatever they do. */
  holds_tree: boolean;
  /** Whether the tool dies with the worker without any help. */
  dies_with_worker: boolean;
  /** Whether the tool sees its own directory under `work.path`; else under `work.source`. */
  maps_paths: boolean;
  /** Whether it can keep a program from starting another. */
  enforces_exec_once?: boolean;
  /** Who the tools run as, and must own what they write to. */
  identity: Identity;
  /** In front of a shell that starts one run after the other: what these need not make for themselves. */
  around_shell: readonly string[];
  launch(confined: Confined): Launch;
};

/** The user that tools run as when the worker is root; null: the worker's own. */
export type Identity = { uid: number; gid: number } | null;
