import { chmodSync, lchownSync, mkdirSync, mkdtempSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { findSandbox, LEVELS } from './find-sandboxes.js';
import { openInits } from './init/open-inits.js';
import { openRunRoot } from './run-root.js';
import type { Identity, Sandbox, SandboxLevel } from './sandbox.js';
import { ETC, readSystemView, type SystemPart } from './system-view.js';
import { defaultRange, openToolUsers, type ToolUsers, type UserRange } from './tool-users.js';

export type ContainmentOptions = {
  work_dir: string;
  /** Only these levels; all by default. */
  levels?: readonly SandboxLevel[] | undefined;
  /** The users that tools run as where the worker is root. */
  tool_uids?: UserRange | undefined;
};

/** How this worker contains tools: looked at once, at the first run. */
export type Containment = {
  /** The one for tools of a tenant; null when none of the levels works here. */
  sandboxFor(tenant: string): Sandbox | null;
  /** Whether the processes of a run are in a namespace of their own, and so can be bounded together. */
  has_namespaces: boolean;
  system: readonly SystemPart[];
  /** Holds what outlives a worker: the directories of sessions. */
  root: string;
  /** Of this worker alone, removed with it. */
  directory: string;
};

const WORKER_PREFIX = 'w-';
/** Which tenant's tools have which user. */
const USERS = 'users';
/** A tenant's name is no empty string, so nobody else has this one's user. */
const PROBE = '';
const FORGOTTEN_MS = 7 * 24 * 3_600_000;

export const openContainment = async (options: ContainmentOptions): Promise<Containment> => {
  const { work_dir, levels = LEVELS, tool_uids } = options;
  const is_root = process.getuid?.() === 0;
  const root = await openRunRoot(work_dir, is_root);
  await removeForgotten(root);
  const directory = mkdtempSync(join(root, WORKER_PREFIX));
  // Tools pass through it to their own directory, whose name they know; they cannot list it.
  if (is_root) chmodSync(directory, 0o711);
  const system = await readSystemView(directory);
  const users = is_root ? openToolUsers(join(root, USERS), tool_uids ?? defaultRange()) : null;
  const identity = users?.of(PROBE) ?? null;
  const probe = join(directory, 'probe');
  makeOwned(probe, identity);
  const inits = openInits(join(directory, ETC, 'capstan'));
  const make = await findSandbox({ system, directory: probe, identity, inits, levels });
  // What was tried may have failed half way.
  await rm(probe, { recursive: true, force: true });
  return {
    sandboxFor: perTenant(make, users),
    has_namespaces: make?.(identity).holds === 'namespace',
    system,
    root,
    directory,
  };
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

/** A directory for whoever runs the tools, and for nobody else. */
export const makeOwned = (directory: string, identity: Identity): void => {
  mkdirSync(directory, { mode: 0o700 });
  // Not through a link: whoever owns the directory above may have put one there meanwhile.
  if (identity) lchownSync(directory, identity.uid, identity.gid);
};

/** Left by workers that ended together with their guard: a machine that lost its power. */
const removeForgotten = async (root: string): Promise<void> => {
  const names = (await readdir(root)).filter((name) => name.startsWith(WORKER_PREFIX));
  for (const name of names) {
    const directory = join(root, name);
    const age = Date.now() - (await stat(directory).catch(() => ({ mtimeMs: Date.now() }))).mtimeMs;
    if (age > FORGOTTEN_MS) await rm(directory, { recursive: true, force: true }).catch(() => {});
  }
};
