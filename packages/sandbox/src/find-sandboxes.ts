import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { createBareProcess } from './bare-process.js';
import { createBubblewrap } from './bubblewrap.js';
import { findExecutable } from './find-executable.js';
import type { Inits } from './init/open-inits.js';
import { createNamespaces } from './namespaces.js';
import { resourceLimits } from './resource-limits.js';
import type { Identity, Sandbox, SandboxLevel } from './sandbox.js';
import type { SystemPart } from './system-view.js';

export type Probing = {
  system: readonly SystemPart[];
  /** A directory that is owned by the user that runs the tools. */
  directory: string;
  identity: Identity;
  inits: Inits | null;
  levels: readonly SandboxLevel[];
};

export const LEVELS: readonly SandboxLevel[] = ['bubblewrap', 'namespaces', 'process'];

const PROBE_MS = 10_000;

type Make = (identity: Identity) => Sandbox;

/** Finds the best sandbox that works here by running something in each, and returns the function that creates it for a user. */
export const findSandbox = async (probing: Probing): Promise<Make | null> => {
  for (const level of LEVELS.filter((each) => probing.levels.includes(each)))
    for (const make of candidates(level, probing))
      if (await works(make(probing.identity), probing.directory)) return make;
  return null;
};

/** Tries an unprivileged user first, and root only where the kernel gives namespaces to nobody else. */
const candidates = (level: SandboxLevel, { system, directory, identity, inits }: Probing): Make[] => {
  const prlimit = findExecutable('prlimit');
  const users: ((who: Identity) => Identity)[] = [(who) => who, ...(identity === null ? [] : [() => null])];
  // Without our own init only where it does not work.
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
    limits: resourceLimits(sandbox, PROBE_MS),
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
