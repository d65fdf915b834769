import { chmodSync, lchownSync, mkdirSync, mkdtempSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { findSandbox, LEVELS } from './find-sandboxes.js';
import { openRunRoot } from './run-root.js';
import type { Identity, Sandbox, SandboxLevel } from './sandbox.js';
import { readSystemView, type SystemPart } from './system-view.js';

export type ContainmentOptions = {
  work_dir: string;
  /** Only these levels; all by default. */
  levels?: readonly SandboxLevel[] | undefined;
};

/** How this worker contains tools: looked at once, at the first run. */
export type Containment = {
  /** Null when none of the levels works here. */
  sandbox: Sandbox | null;
  system: readonly SystemPart[];
  /** Holds what outlives a worker: the directories of sessions. */
  root: string;
  /** Of this worker alone, removed with it. */
  directory: string;
};

/** Without rights, and on nearly every Linux in /etc/passwd. */
const NOBODY: Identity = { uid: 65_534, gid: 65_534 };
const WORKER_PREFIX = 'w-';
const FORGOTTEN_MS = 7 * 24 * 3_600_000;

export const openContainment = async ({ work_dir, levels = LEVELS }: ContainmentOptions): Promise<Containment> => {
  const is_root = process.getuid?.() === 0;
  const root = await openRunRoot(work_dir, is_root);
  await removeForgotten(root);
  const directory = mkdtempSync(join(root, WORKER_PREFIX));
  // Tools pass through it to their own directory, whose name they know; they cannot list it.
  if (is_root) chmodSync(directory, 0o711);
  const system = await readSystemView(directory);
  const identity = is_root ? NOBODY : null;
  const probe = join(directory, 'probe');
  makeOwned(probe, identity);
  const sandbox = await findSandbox({ system, directory: probe, identity, levels });
  // What was tried may have failed half way.
  await rm(probe, { recursive: true, force: true });
  return { sandbox, system, root, directory };
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
