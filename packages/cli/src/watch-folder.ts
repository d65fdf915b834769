import { type FSWatcher, lstatSync, readdirSync, watch } from 'node:fs';
import { join, sep } from 'node:path';

const IGNORED = new Set(['node_modules', '.capstan', '.git']);

/**
 * Calls `changed` with the path of whatever changes in a folder, until `signal` aborts. Each folder below is watched by itself: on Linux,
 * the recursive watch of Node.js 20 watches single files, and loses a file that an editor replaces instead of writing to it.
 */
export function watchFolder(root: string, signal: AbortSignal, changed: (path: string) => void): void {
  const watched = new Map<string, FSWatcher>();
  const add = (folder: string, found: (path: string) => void): void => {
    const watcher = watch(folder, (event, name) => {
      if (name === null) changed(folder);
      else if (!IGNORED.has(name)) hear(event, join(folder, name));
    });
    watcher.on('error', () => drop(folder));
    watched.set(folder, watcher);
    for (const name of readdirSync(folder)) {
      if (IGNORED.has(name)) continue;
      const path = join(folder, name);
      if (isFolder(path)) addIfThere(path, found);
      found(path);
    }
  };
  const addIfThere = (folder: string, found: (path: string) => void): void => {
    try {
      add(folder, found);
    } catch (error) {
      // Deleted meanwhile.
      if (isFolder(folder)) throw error;
      drop(folder);
    }
  };
  const hear = (event: string, path: string): void => {
    if (event === 'rename') {
      drop(path);
      // Nobody else reports the files that a new folder already has.
      if (isFolder(path)) addIfThere(path, changed);
    }
    changed(path);
  };
  const drop = (folder: string): void => {
    for (const [path, watcher] of watched)
      if (path === folder || path.startsWith(`${folder}${sep}`)) {
        watcher.close();
        watched.delete(path);
      }
  };
  if (signal.aborted) return;
  signal.addEventListener('abort', () => drop(root), { once: true });
  add(root, () => {});
}

const isFolder = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

/** Editors write a file in several operations. */
const SETTLE_MS = 100;

/** Resolves when something in one of the folders has changed, or when `signal` aborts. */
export function nextChangeIn(folders: readonly string[], signal: AbortSignal): Promise<void> {
  const ending = new AbortController();
  const stop = AbortSignal.any([signal, ending.signal]);
  let timer: NodeJS.Timeout | undefined;
  for (const folder of folders)
    watchFolder(folder, stop, () => {
      if (timer === undefined) timer = setTimeout(() => ending.abort(), SETTLE_MS);
    });
  return new Promise((done) => {
    const end = (): void => {
      clearTimeout(timer);
      done();
    };
    stop.addEventListener('abort', end, { once: true });
    if (stop.aborted) end();
  });
}
