import { chmodSync, lchownSync, mkdirSync, mkdtempSync } from 'node:fs';
import { readdir, rm, rmdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type Cgroups, openCgroups } from './cgroup/open-cgroups.js';
import { findSandbox, LEVELS } from './find-sandboxes.js';
import { openInits } from './init/open-inits.js';
import { createOrphanGuard, type OrphanGuard } from './launch/orphan-guard.js';
import { openRunRoot } from './run-root.js';
import type { Identity, Sandbox, SandboxLevel } from './sandbox.js';
import { ETC, readSystemView, type SystemPart } from './system-view.js';
import { defaultRange, openToolUsers, type ToolUsers, type UserRange } from './tool-users.js';

export type ContainmentOptions = {
  work_dir: string;
  /** Only these levels. Default: all. */
  levels?: readonly SandboxLevel[] | undefined;
  /** The users that tools run as if the worker is root. */
  tool_uids?: UserRange | undefined;
};

/** How this worker contains tools. Determined once, at the first run. */
export type Containment = {
  /** The sandbox for a tenant's tools. Null if no level works here. */
  sandboxFor(tenant: string): Sandbox | null;
  /** Whether each run has its own pid namespace, so that its processes can be limited together. */
  has_namespaces: boolean;
  /** Limits all processes of a run together. Null if the worker may not create cgroups. */
  cgroups: Cgroups | null;
  /** Cleans up if this worker is killed. */
  guard: OrphanGuard;
  system: readonly SystemPart[];
  /** Holds what outlives a worker, such as the directories of sessions. */
  root: string;
  /** Used by this worker alone, and removed with it. */
  directory: string;
  /** For the named pipes of runs. Removed with the worker as well. */
  pipes: string;
  /** Kills what is still running and removes the directories. */
  close(): Promise<void>;
};

const WORKER_PREFIX = 'w-';
/**
 * Each run creates and removes two pipes. In memory that is cheap; ext4 without a journal looks at each inode that was removed in the last
 * seconds before it creates one, which took a twentieth of all CPU time at 200 runs a second.
 */
const IN_MEMORY = '/dev/shm';
const PIPES_PREFIX = 'capstan-pipes-';
/** The directory that records which tenant has which user. */
const USERS = 'users';
/** A tenant's name is never empty, so no tenant shares this user. */
const PROBE = '';
const FORGOTTEN_MS = 7 * 24 * 3_600_000;

export const openContainment = async (options: ContainmentOptions): Promise<Containment> => {
  const { work_dir, levels = LEVELS, tool_uids } = options;
  const is_root = process.getuid?.() === 0;
  const root = await openRunRoot(work_dir, is_root);
  await removeForgotten(root);
  const directory = mkdtempSync(join(root, WORKER_PREFIX));
  // Tools must be able to reach their own directory through it, but not to list it.
  if (is_root) chmodSync(directory, 0o711);
  const system = await readSystemView(directory);
  const users = is_root ? openToolUsers(join(root, USERS), tool_uids ?? defaultRange()) : null;
  const identity = users?.of(PROBE) ?? null;
  const probe = join(directory, 'probe');
  makeOwned(probe, identity);
  const inits = openInits(join(directory, ETC, 'capstan'));
  const make = await findSandbox({ system, directory: probe, identity, inits, levels });
  // A failed probe may have left files behind.
  await rm(probe, { recursive: true, force: true });
  const has_namespaces = make?.(identity).holds === 'namespace';
  const cgroups = has_namespaces ? openCgroups() : null;
  const pipes = openPipes(directory, is_root);
  const guard = createOrphanGuard(directory, pipes, cgroups?.folders);
  guard.start();
  const close = async () => {
    await guard.close();
    for (const own of [pipes, directory]) await rm(own, { recursive: true, force: true });
    // Also removes a root in the temporary directory, unless it still holds files of sessions.
    if (root !== resolve(work_dir)) await rmdir(root).catch(() => {});
  };
  return { sandboxFor: perTenant(make, users), has_namespaces, cgroups, guard, system, root, directory, pipes, close };
};

/** Whether a sandbox with namespaces works on this machine, determined by running something in it. */
export const canContain = async (work_dir: string): Promise<boolean> => {
  const { has_namespaces, close } = await openContainment({ work_dir });
  await close();
  return has_namespaces;
};

const perTenant = (make: ((identity: Identity) => Sandbox) | null, users: ToolUsers | null) => {
  const made = new Map<string, Sandbox>();
  return (tenant: string): Sandbox | null => {
    if (make === null) return null;
    const sandbox = made.get(tenant) ?? make(users?.of(tenant) ?? null);
    made.set(tenant, sandbox);
    return sandbox;
  };
};

/** As with the directory, tools must be able to reach what they know the name of, but not to list it. */
const openPipes = (directory: string, is_root: boolean): string => {
  const pipes = makeIn(IN_MEMORY) ?? mkdtempSync(join(directory, PIPES_PREFIX));
  if (is_root) chmodSync(pipes, 0o711);
  return pipes;
};

const makeIn = (parent: string): string | null => {
  try {
    return mkdtempSync(join(parent, PIPES_PREFIX));
  } catch {
    // Another system than Linux, or closed to this user.
    return null;
  }
};

/** Creates a directory that only this user can access. */
export const makeOwned = (directory: string, identity: Identity): void => {
  mkdirSync(directory, { mode: 0o700 });
  // lchown, because the owner of the parent directory may have replaced it with a link in the meantime.
  if (identity) lchownSync(directory, identity.uid, identity.gid);
};

/** Removes directories of workers that ended together with their guard, for example in a power failure. */
const removeForgotten = async (root: string): Promise<void> => {
  const names = (await readdir(root)).filter((name) => name.startsWith(WORKER_PREFIX));
  for (const name of names) {
    const directory = join(root, name);
    const age = Date.now() - (await stat(directory).catch(() => ({ mtimeMs: Date.now() }))).mtimeMs;
    if (age > FORGOTTEN_MS) await rm(directory, { recursive: true, force: true }).catch(() => {});
  }
};
