import type { Egress } from '@capstan/egress';
import type { Call } from '../runner.js';
import type { Cgroups } from '../sandbox/cgroup/open-cgroups.js';
import type { Containment } from '../sandbox/containment.js';
import type { ResourceLimits } from '../sandbox/resource-limits.js';
import type { Mount, Sandbox } from '../sandbox/sandbox.js';
import type { SystemPart } from '../sandbox/system-view.js';
import type { Launcher } from './launcher/create-launcher.js';
import type { OrphanGuard } from './orphan-guard.js';
import type { Program } from './program.js';
import type { WorkPlaces } from './work-place.js';

export type Environment = Record<string, string | undefined>;

/** What the runs of one runner share. */
export type ExecHost = {
  env: Environment;
  /** The directories of the worker's PATH. */
  path: readonly string[];
  containment: Containment;
  places: WorkPlaces;
  guard: OrphanGuard;
  launcher: Launcher;
  /** What bounds all processes of a run together; null where there are none. */
  cgroups: Cgroups | null;
  resources: Partial<ResourceLimits>;
  extension_tools: ((tools_hash: string) => Promise<string>) | undefined;
  egress(): Egress;
};

export type Secrets = { env: Record<string, string>; stdin: string | undefined };

/** Everything about one run before it starts. */
export type ExecRun = {
  host: ExecHost;
  sandbox: Sandbox;
  system: readonly SystemPart[];
  program: Program;
  secrets: Secrets;
  call: Call;
  work: Mount & { writable: boolean };
  /** Whether the work directory was there before, and stays. */
  stays: boolean;
  /** Where temporary files go; null where the sandbox has a /tmp of its own. */
  temporary: string | null;
  /** By the clock of the files. */
  began: number;
  /** Whether the run has left nothing in it. */
  isUntouched(): boolean;
  /** Where files that are kept go; null when nothing may be written. */
  artifacts: string | null;
  tools: Mount | null;
  path: readonly string[];
};
