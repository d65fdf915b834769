import { createHash, randomUUID } from 'node:crypto';
import { chmod, mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '@capstan/contracts';
import { hashJson } from '@capstan/integrity';
import type { Store } from '@capstan/store';
import { readExtensionFiles } from '@capstan/store/extension';

/** Returns the folder with the executables of an extension, by their common hash. */
export type ExtensionTools = (tools_hash: string) => Promise<string>;

const HASH = /^sha256:([0-9a-f]{64})$/;

/**
 * Executables are read from Postgres once and stay on disk, read-only. A folder is named by the hash of its files, so it never
 * changes. It is filled under a temporary name and then renamed, so that several workers on one disk do not interfere.
 */
export function createExtensionTools(store: Store, cache: string): ExtensionTools {
  const ready = new Map<string, Promise<string>>();
  return (tools_hash) => {
    const known = ready.get(tools_hash);
    if (known) return known;
    const made = materialise(store, cache, tools_hash);
    ready.set(tools_hash, made);
    // Try again next time: Postgres may have been unavailable, or the disk full.
    made.catch(() => ready.delete(tools_hash));
    return made;
  };
}

async function materialise(store: Store, cache: string, tools_hash: string): Promise<string> {
  const [, digest] = HASH.exec(tools_hash) ?? [];
  if (digest === undefined) throw missing(tools_hash);
  const place = join(cache, digest);
  if (await isFolder(place)) return place;
  const files = await readExtensionFiles(store, tools_hash);
  if (files.length === 0) throw missing(tools_hash);
  const hashes = files.map(({ name, content }) => [name, createHash('sha256').update(content).digest('hex')]);
  if (hashJson(Object.fromEntries(hashes)) !== tools_hash)
    throw new Failure('RUNNER_FAILED', {
      detail: 'the executables of the extension do not match the installed ones',
      retryable: false,
    });
  const draft = join(cache, `.${digest}-${randomUUID()}`);
  const folders = foldersOf(draft, files);
  for (const folder of folders) await mkdir(folder, { recursive: true });
  try {
    for (const { name, content } of files) await writeFile(join(draft, name), content, { mode: 0o555, flag: 'wx' });
    for (const folder of folders.toReversed()) await chmod(folder, 0o555);
    await rename(draft, place);
  } catch (error) {
    for (const folder of folders) await chmod(folder, 0o755).catch(() => {});
    await rm(draft, { recursive: true, force: true });
    // Fine if another worker has created it meanwhile.
    if (!(await isFolder(place))) throw error;
  }
  return place;
}

/** The root and all folders of these files, parents first. */
function foldersOf(root: string, files: readonly { name: string }[]): string[] {
  const all = new Set([root]);
  for (const { name } of files) {
    const parts = name.split('/').slice(0, -1);
    parts.forEach((_, depth) => {
      all.add(join(root, ...parts.slice(0, depth + 1)));
    });
  }
  return [...all];
}

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );

const missing = (tools_hash: string): Failure =>
  new Failure('RUNNER_FAILED', {
    detail: `there are no executables of an extension with the hash ${tools_hash}`,
    retryable: false,
  });
