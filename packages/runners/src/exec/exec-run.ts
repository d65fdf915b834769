import type { Egress } from '@capstan/egress';
import type { Containment, Launcher, Mount, ResourceLimits, Sandbox, SystemPart } from '@capstan/sandbox';
import type { Call } from '../runner.js';
import type { Program } from './prepare/program.js';
import type { WorkPlaces } from './prepare/work-place.js';

export type Environment = Record<string, string | undefined>;

/** The parts that the runs of one runner share. */
export type ExecHost = {
  env: Environment;
  /** The directories of the worker's PATH. */
  path: readonly string[];
  containment: Containment;
  places: WorkPlaces;
  launcher: Launcher;
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
  /** True if the work directory existed before, and is kept. */
  stays: boolean;
  /** The directory for temporary files; null if the sandbox has a private /tmp. */
  temporary: string | null;
  /** The start, by the clock of the file system. */
  began: number;
  /** True if the run left no files in it. */
  isUntouched(): boolean;
  /** The directory for artifacts; null if the tool may not write files. */
  artifacts: string | null;
  tools: Mount | null;
  path: readonly string[];
};
