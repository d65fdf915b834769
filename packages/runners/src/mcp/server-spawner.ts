import { mkdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Egress, EgressRules } from '@capstan/egress';
import {
  type Confined,
  type Containment,
  DEFAULT_LIMITS,
  factOf,
  type Identity,
  type Mount,
  makeOwned,
  openContainment,
  openLoneTree,
  requireSandbox,
  type Sandbox,
  type SandboxLevel,
  type SandboxNeeds,
  type UserRange,
} from '@capstan/sandbox';
import { openEgressSocket } from '../egress-socket.js';
import { BRIDGE } from '../exec/contain/network-access.js';
import { removeForeign } from '../exec/prepare/work-place.js';
import { type ContainedProcess, startContained } from './contained-process.js';
import { findProgram, programMounts } from './program-mounts.js';
import { isOnline, type ResolvedServer } from './resolve-server.js';

/** Starts servers in the same sandbox as exec tools. */
export type ServerSpawner = {
  /** The sandbox of a tenant's servers on this worker. Throws a Failure if it does not meet the needs of a call. */
  containment(tenant: string, needs: SandboxNeeds): Promise<{ level: SandboxLevel; fact: string }>;
  /** `onDomain` is called with each host that the server connects to. */
  spawn(server: ResolvedServer, onDomain: (hostname: string) => void): Promise<ContainedProcess>;
  close(): Promise<void>;
};

type Options = {
  work_dir: string;
  env?: Record<string, string | undefined>;
  sandbox_levels?: readonly SandboxLevel[] | undefined;
  tool_uids?: UserRange | undefined;
};

const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
/** The path of a server's own folder inside the sandbox. */
const HOME = '/home/server';
/** Practically unlimited: a server lives as long as it is called, and each call has its own deadline. */
const CPU_SECONDS = 7 * 24 * 3600;

export function createServerSpawner(options: Options, egress: Egress): ServerSpawner {
  const { work_dir, env = {}, sandbox_levels, tool_uids } = options;
  let opened: Promise<Containment> | null = null;
  const open = () => {
    opened ??= openContainment({ work_dir, levels: sandbox_levels, tool_uids });
    // A failure may be temporary, such as a full disk: the next call tries again.
    opened.catch(() => {
      opened = null;
    });
    return opened;
  };
  let count = 0;

  return {
    containment: async (tenant, needs) => {
      const sandbox = requireSandbox((await open()).sandboxFor(tenant), needs);
      return { level: sandbox.level, fact: factOf(sandbox) };
    },
    spawn: async (server, onDomain) => {
      const containment = await open();
      const sandbox = requireSandbox(containment.sandboxFor(server.tenant), { walls: false, seccomp: false });
      const path = env.PATH ?? DEFAULT_PATH;
      const program = findProgram(server.config.command ?? '', path);
      const keepsHome = server.config.permissions?.includes('home') ?? false;
      const work = keepsHome
        ? await keptFolder(containment.root, server, sandbox)
        : freshFolder(containment.directory, count++, sandbox);
      const online = isOnline(server.config) && server.rules.network !== 'none';
      // Without a mapped view the network is open as it is, and calls whose policy limits it are refused.
      const network =
        online && sandbox.maps_paths
          ? await openServerNetwork({ egress, rules: server.rules, onDomain }, sandbox.identity, path)
          : null;
      const launch = sandbox.launch(
        confine(server, sandbox, { env, path, program, work, online, network, system: containment.system }),
      );
      const cleanUp = async () => {
        await network?.close().catch(() => {});
        if (!keepsHome) await rm(work, { recursive: true, force: true }).catch(() => {});
      };
      const child = await startContained(launch, sandbox).catch(async (error: unknown) => {
        await cleanUp();
        throw error;
      });
      supervise(child, sandbox, containment, cleanUp);
      return child;
    },
    close: async () => {
      const containment = await opened?.catch(() => null);
      await containment?.close();
    },
  };
}

type Surroundings = {
  env: Record<string, string | undefined>;
  path: string;
  program: string;
  work: string;
  online: boolean;
  network: ServerNetwork | null;
  system: Containment['system'];
};

/** Everything that the server gets: its program, variables, files, network and limits. */
function confine(
  { config, env: secret_env }: ResolvedServer,
  { maps_paths }: Sandbox,
  { env, path, program, work, online, network, system }: Surroundings,
): Confined {
  const { args = [] } = config;
  // With a network, the bridge to the egress guard starts the program.
  const [file = program, ...before] = network?.command ?? [];
  return {
    file,
    args: network ? [...before, program, ...args] : args,
    env: {
      PATH: path,
      HOME: maps_paths ? HOME : work,
      TMPDIR: maps_paths ? '/tmp' : work,
      ...languages(env),
    },
    secret_env,
    work: { source: work, path: HOME, writable: true },
    mounts: [...programMounts(program, config, system), ...(network?.mounts ?? [])],
    temporary: null,
    loopback: network !== null,
    network: 'own',
    sockets: online ? 'inet' : 'unix',
    limits: { ...DEFAULT_LIMITS, cpu_seconds: CPU_SECONDS },
    tty: false,
    exec_once: false,
  };
}

/** Limits the server's processes together, and cleans up when it exits or the worker is killed. */
function supervise(
  child: ContainedProcess,
  sandbox: Sandbox,
  { guard, cgroups }: Containment,
  cleanUp: () => Promise<void>,
): void {
  if (!sandbox.dies_with_worker) guard.watch(child.pid);
  const tree = cgroups && openLoneTree(cgroups, DEFAULT_LIMITS);
  // Not awaited, so that the caller can listen before the first output arrives.
  void tree?.join(child.pid);
  void child.exited.then(() => {
    guard.release(child.pid);
    tree?.remove();
    return cleanUp();
  });
}

function freshFolder(directory: string, number: number, { identity }: Sandbox): string {
  const folder = join(directory, `mcp-${number}`);
  makeOwned(folder, identity);
  return folder;
}

/** The persistent home of a server, one for each tenant. */
async function keptFolder(root: string, { config, tenant }: ResolvedServer, { identity }: Sandbox): Promise<string> {
  const parent = join(root, 'mcp-home', tenant);
  mkdirSync(parent, { recursive: true, mode: 0o711 });
  const folder = join(parent, config.name);
  await removeForeign(folder, identity);
  try {
    makeOwned(folder, identity);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  return folder;
}

const languages = (env: Record<string, string | undefined>): Record<string, string> =>
  Object.fromEntries(['LANG', 'LC_ALL'].flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));

/** The network access of a server in its sandbox: a bridge inside, which leads to the egress guard in the worker. */
type ServerNetwork = { mounts: Mount[]; command: string[]; close(): Promise<void> };

type Way = {
  egress: Egress;
  /** The rules of the calls that share this server. Without any, all public addresses are allowed. */
  rules: EgressRules;
  onDomain(hostname: string): void;
};

/** The egress guard's rules apply to the programs of servers as to everything else. */
async function openServerNetwork(way: Way, identity: Identity, path: string): Promise<ServerNetwork> {
  const node = findProgram('node', path);
  const { mount, socket, close } = await openEgressSocket(identity, way);
  return { mounts: [mount], command: [node, '-e', BRIDGE, socket], close };
}
