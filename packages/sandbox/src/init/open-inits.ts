import { spawnSync } from 'node:child_process';
import { createHash, randomInt } from 'node:crypto';
import { chmodSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildFilter, type FilterOptions, type Password } from '../seccomp/build-filter.js';
import type { Architecture } from '../seccomp/refused-calls.js';
import { arm64 } from './arm64.js';
import type { Encoder } from './assembler.js';
import { buildElf } from './build-elf.js';
import { type InitOptions, initProgram } from './init-program.js';
import type { LandlockRule } from './landlock.js';
import { systemCall } from './system-calls.js';
import { x64 } from './x64.js';

/** What the `init` of a run has to do. */
export type InitOrder = Omit<InitOptions, 'filter' | 'password' | 'landlock'> & {
  filter: Omit<FilterOptions, 'exec_once'> & { exec_once?: boolean };
  /** The files that Landlock permits; an empty list permits none. Null: no Landlock. */
  files: readonly LandlockRule[] | null;
};

/** The `init` executables. Everything that one does is compiled into it, so each is built on first use and then reused. */
export type Inits = {
  /** The file name, in `directory`, of the one that does this. */
  nameOf(order: InitOrder): string;
  directory: string;
  /** The kernel's Landlock ABI version; 0 if it has none. */
  landlock_abi: number;
};

const ENCODERS: Record<Architecture, Encoder> = { x64, arm64 };
const LANDLOCK_VERSION = 1;
const PROBE_MS = 5000;
const WORD = 2 ** 31 - 1;

/**
 * Null where they cannot work: another system or architecture, a file system mounted noexec, a kernel without seccomp filters
 * or older than 5.9. Determined by running one.
 */
export const openInits = (directory: string): Inits | null => {
  const architecture = process.platform === 'linux' ? architectureOf(process.arch) : null;
  if (architecture === null) return null;
  mkdirSync(directory, { recursive: true, mode: 0o755 });
  const probe = write(directory, 'probe', landlockProbe(architecture));
  const { status } = spawnSync(join(directory, probe), { stdio: 'ignore', env: {}, timeout: PROBE_MS });
  if (status === null) return null;
  const landlock_abi = status;
  const made = new Map<string, string>();
  // No tool can learn it: the files cannot be read, and exec clears the registers.
  const password: Password = [randomInt(WORD), randomInt(WORD), randomInt(WORD)];
  const nameOf = (order: InitOrder): string => {
    const key = JSON.stringify(order);
    const name = made.get(key) ?? write(directory, 'init', build(order, architecture, landlock_abi, password));
    made.set(key, name);
    return name;
  };
  return runsTrue(join(directory, nameOf(PLAIN))) ? { directory, landlock_abi, nameOf } : null;
};

const build = (
  { filter: { exec_once = false, ...filter }, files, ...rest }: InitOrder,
  architecture: Architecture,
  abi: number,
  password: Password,
): Buffer => {
  const landlock = files === null || abi === 0 ? null : { abi, rules: files, network: filter.sockets === 'inet' };
  const { steps, data } = initProgram(
    {
      ...rest,
      filter: buildFilter(architecture, exec_once ? { ...filter, exec_once: password } : filter),
      password: exec_once ? password : null,
      landlock,
    },
    architecture,
  );
  return buildElf(steps, data, ENCODERS[architecture]);
};

const PLAIN: InitOrder = {
  tree: 'descendants',
  terminal: false,
  descriptors: 3,
  identity: null,
  limits: [],
  filter: { sockets: 'unix' },
  files: null,
};

const architectureOf = (name: string): Architecture | null => (name === 'x64' || name === 'arm64' ? name : null);

/** Exits with the kernel's Landlock ABI version as its status. */
const landlockProbe = (architecture: Architecture): Buffer =>
  buildElf(
    [
      {
        op: 'call',
        number: systemCall('landlock_create_ruleset', architecture),
        arguments: [0, 0, LANDLOCK_VERSION],
        result: 'a',
      },
      { op: 'branch', when: 'at_least', left: 'a', right: 0, to: 'end' },
      { op: 'set', to: 'a', from: 0 },
      { op: 'label', name: 'end' },
      { op: 'call', number: systemCall('exit_group', architecture), arguments: ['a'], result: null },
    ],
    { nothing: Buffer.alloc(1) },
    ENCODERS[architecture],
  );

/** Files are named by their content, so equal ones are one file. */
const write = (directory: string, kind: string, content: Buffer): string => {
  const name = `${kind}-${createHash('sha256').update(content).digest('hex').slice(0, 24)}`;
  const fresh = join(directory, `${name}.${process.hrtime.bigint()}`);
  writeFileSync(fresh, content, { flag: 'wx' });
  // Executable, but not readable, not even by the owner.
  chmodSync(fresh, 0o111);
  renameSync(fresh, join(directory, name));
  return name;
};

const runsTrue = (init: string): boolean =>
  spawnSync(init, ['/bin/sh', '-c', 'exit 7'], { stdio: 'ignore', env: {}, timeout: PROBE_MS }).status === 7;
