import { mkdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Egress } from '@capstan/egress';
import { openLoneTree } from '../exec/lone-tree.js';
import { createOrphanGuard, type OrphanGuard } from '../exec/orphan-guard.js';
import { removeForeign } from '../exec/work-place.js';
import { type Cgroups, openCgroups } from '../sandbox/cgroup/open-cgroups.js';
import { type Containment, makeOwned, openContainment } from '../sandbox/containment.js';
import { requireSandbox, type SandboxNeeds } from '../sandbox/require-sandbox.js';
import { DEFAULT_LIMITS } from '../sandbox/resource-limits.js';
import { factOf, type Sandbox, type SandboxLevel } from '../sandbox/sandbox.js';
import type { UserRange } from '../sandbox/tool-users.js';
import { type ContainedProcess, startContained } from './contained-process.js';
import { findProgram, programMounts } from './program-mounts.js';
import { isOnline, type ResolvedServer } from './resolve-server.js';
import { openServerNetwork } from './server-network.js';

/** Starts servers in the sandbox that exec tools run in. */
export type ServerSpawner = {
  /** What a tenant's servers run under here; a Failure when it is too little for a call. */
  containment(tenant: string, needs: SandboxNeeds): Promise<{ level: SandboxLevel; fact: string }>;
  /** `onDomain` hears where it connects to. */
  spawn(server: ResolvedServer, onDomain: (hostname: string) => void): Promise<ContainedProcess>;
  close(): Promise<void>;
};

type Options = {
  work_dir: string;
  env?: Record<string, string | undefined>;
  sandbox_levels?: readonly SandboxLevel[] | undefined;
  tool_uids?: UserRange | undefined;
};
type Place = Containment & { guard: OrphanGuard; cgroups: Cgroups | null };

const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
/** Where a server finds its own folder. */
const HOME = '/home/server';
/** A server lives as long as it is called; what bounds it is the deadline of each call. */
const CPU_SECONDS = 7 * 24 * 3600;

export function createServerSpawner(options: Options, egress: Egress): ServerSpawner {
  const { work_dir, env = {}, sandbox_levels, tool_uids } = options;
  let opened: Promise<Place> | null = null;
  const open = async (): Promise<Place> => {
    const containment = await openContainment({ work_dir, levels: sandbox_levels, tool_uids });
    const cgroups = containment.has_namespaces ? openCgroups() : null;
    const guard = createOrphanGuard(containment.directory, cgroups?.folders);
    guard.start();
    return { ...containment, guard, cgroups };
  };
  const place = () => {
    opened ??= open();
    // What failed once may work later: a disk that was full.
    opened.catch(() => {
      opened = null;
    });
    return opened;
  };
  let count = 0;

  return {
    containment: async (tenant, needs) => {
      const sandbox = requireSandbox((await place()).sandboxFor(tenant), needs);
      return { level: sandbox.level, fact: factOf(sandbox) };
    },
    spawn: async (server, onDomain) => {
      const { sandboxFor, guard, cgroups, system, root, directory } = await place();
      const sandbox = requireSandbox(sandboxFor(server.tenant), { walls: false, seccomp: false });
      const { command = '', args = [], permissions = [] } = server.config;
      const path = env.PATH ?? DEFAULT_PATH;
      const program = findProgram(command, path);
      const keeps = permissions.includes('home');
      const work = keeps ? await keptFolder(root, server, sandbox) : freshFolder(directory, count++, sandbox);
      const { rules } = server;
      // Without walls the network is open as it is, and calls whose policy limits it are refused.
      const online = isOnline(server.config) && rules.network !== 'none';
      const leadsOut = online && sandbox.maps_paths;
      const network = leadsOut ? await openServerNetwork({ egress, rules, onDomain }, sandbox.identity, path) : null;
      const [file = program, ...before] = network?.command ?? [];
      const home = sandbox.maps_paths ? HOME : work;
      const launch = sandbox.launch({
        file,
        args: network ? [...before, program, ...args] : args,
        env: { PATH: path, HOME: home, TMPDIR: sandbox.maps_paths ? '/tmp' : work, ...languages(env) },
        secret_env: server.env,
        work: { source: work, path: HOME, writable: true },
        mounts: [...programMounts(program, server.config, system), ...(network?.mounts ?? [])],
        temporary: null,
        loopback: network !== null,
        network: 'own',
        sockets: online ? 'inet' : 'unix',
        limits: { ...DEFAULT_LIMITS, cpu_seconds: CPU_SECONDS },
        tty: false,
        exec_once: false,
      });
      const leave = async () => {
        await network?.close().catch(() => {});
        if (!keeps) await rm(work, { recursive: true, force: true }).catch(() => {});
      };
      const child = await startContained(launch, sandbox).catch(async (error: unknown) => {
        await leave();
        throw error;
      });
      if (!sandbox.dies_with_worker) guard.watch(child.pid);
      const tree = cgroups && openLoneTree(cgroups, DEFAULT_LIMITS);
      // Not waited for: what it has to say at once is to be heard.
      void tree?.join(child.pid);
      void child.exited.then(() => {
        guard.release(child.pid);
        tree?.remove();
        return leave();
      });
      return child;
    },
    close: async () => {
      const open = await opened?.catch(() => null);
      if (!open) return;
      await open.guard.close();
      await rm(open.directory, { recursive: true, force: true });
    },
  };
}

function freshFolder(directory: string, number: number, { identity }: Sandbox): string {
  const folder = join(directory, `mcp-${number}`);
  makeOwned(folder, identity);
  return folder;
}

/** Each tenant has its own, as it has its own process. */
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
