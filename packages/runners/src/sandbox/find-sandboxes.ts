import { mkdirSync } from 'node:fs';
import { release } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { createBareProcess } from './bare-process.js';
import { createBubblewrap } from './bubblewrap.js';
import { findExecutable } from './find-executable.js';
import type { Inits } from './init/open-inits.js';
import { createNamespaces } from './namespaces.js';
import { DEFAULT_LIMITS } from './resource-limits.js';
import type { Identity, Sandbox, SandboxLevel } from './sandbox.js';
import type { SystemPart } from './system-view.js';

export type Probing = {
  system: readonly SystemPart[];
  /** A directory that belongs to whoever runs the tools. */
  directory: string;
  identity: Identity;
  inits: Inits | null;
  levels: readonly SandboxLevel[];
};

export const LEVELS: readonly SandboxLevel[] = ['bubblewrap', 'namespaces', 'process'];

const PROBE_MS = 10_000;

type Make = (identity: Identity) => Sandbox;

/** What makes the best sandbox that works here for a user, found by running something in each. */
export const findSandbox = async (probing: Probing): Promise<Make | null> => {
  for (const level of LEVELS.filter((each) => probing.levels.includes(each)))
    for (const make of candidates(level, probing))
      if (await works(make(probing.identity), probing.directory)) return make;
  return null;
};

/** As a user without rights first: as root only where the kernel gives namespaces to nobody else. */
const candidates = (level: SandboxLevel, { system, directory, identity, inits }: Probing): Make[] => {
  const prlimit = findExecutable('prlimit');
  const users: ((who: Identity) => Identity)[] = [(who) => who, ...(identity === null ? [] : [() => null])];
  // Without an init of ours only where it does not work.
  const with_or_without = inits === null ? [null] : [inits, null];
  if (level === 'process')
    return with_or_without.map((init) => (who) => createBareProcess({ prlimit, inits: init, identity: who }));
  if (level === 'bubblewrap') {
    const bwrap = findExecutable('bwrap');
    if (bwrap === null) return [];
    return users.flatMap((as) =>
      with_or_without.flatMap((init) =>
        [true, false].flatMap((disable_userns) =>
          [true, false].map(
            (nests): Make =>
              (who) =>
                createBubblewrap({ bwrap, prlimit, inits: init, system, identity: as(who), disable_userns, nests }),
          ),
        ),
      ),
    );
  }
  const tools = findNamespaceTools();
  if (tools === null) return [];
  const new_root = join(directory, '..', 'root');
  mkdirSync(new_root, { recursive: true, mode: 0o755 });
  return users.flatMap((as) =>
    with_or_without.map(
      (init): Make =>
        (who) =>
          createNamespaces({ tools, inits: init, system, identity: as(who), new_root }),
    ),
  );
};

const findNamespaceTools = () => {
  const [unshare, sh, mount, umount, pivot_root, setpriv] = [
    'unshare',
    'sh',
    'mount',
    'umount',
    'pivot_root',
    'setpriv',
  ].map((name) => findExecutable(name));
  if (!unshare || !sh || !mount || !umount || !pivot_root || !setpriv) return null;
  return {
    unshare,
    sh,
    mount,
    umount,
    pivot_root,
    setpriv,
    prlimit: findExecutable('prlimit'),
    ip: findExecutable('ip'),
  };
};

const works = async (sandbox: Sandbox, directory: string): Promise<boolean> => {
  const launch = sandbox.launch({
    file: '/bin/sh',
    args: ['-c', ': > probe && rm probe && echo contained'],
    env: { PATH: '/usr/bin:/bin' },
    secret_env: {},
    work: { source: directory, path: directory, writable: true },
    mounts: [],
    temporary: null,
    loopback: false,
    network: 'of_shell',
    sockets: 'unix',
    limits: {
      ...DEFAULT_LIMITS,
      cpu_seconds: 60,
      ...(sandbox.holds === 'namespace' ? {} : { processes: PROCESSES_OF_A_USER }),
    },
    tty: false,
    exec_once: false,
  });
  const { env, cwd, uid, gid } = launch;
  const [file = '', ...args] = [...sandbox.around_shell, launch.file, ...launch.args];
  const { stdout, exitCode } = await execa(file, args, {
    env,
    cwd,
    ...(uid === undefined ? {} : { uid, gid }),
    extendEnv: false,
    stdin: 'ignore',
    timeout: PROBE_MS,
    killSignal: 'SIGKILL',
    reject: false,
  });
  return exitCode === 0 && stdout === 'contained';
};

/** Where all processes of a user count together, those of other runs and of the user's desktop among them. */
export const PROCESSES_OF_A_USER = 4096;

/**
 * Since Linux 5.14 processes are counted by user namespace, before by user: then the other processes of that user count
 * as well, and a low limit would hit the innocent.
 */
export const processesPerRun = (wanted: number, kernel = release()): number => {
  const [major = 0, minor = 0] = kernel.split('.').map((part) => Number.parseInt(part, 10));
  return major > 5 || (major === 5 && minor >= 14) ? wanted : PROCESSES_OF_A_USER;
};
