import { createHash, randomUUID } from 'node:crypto';
import { chmod, mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '@capstan/contracts';
import { hashJson } from '@capstan/integrity';
import { readExtensionFiles, type Store } from '@capstan/store';

/** The folder with the executables of an extension, by the hash of their set. */
export type ExtensionTools = (tools_hash: string) => Promise<string>;

const HASH = /^sha256:([0-9a-f]{64})$/;

/**
 * Executables come from Postgres once and stay on disk, read-only: a set never changes, since its hash is its name. A
 * folder is filled beside its place and moved there whole, so that several workers on one disk do not meet.
 */
export function createExtensionTools(store: Store, cache: string): ExtensionTools {
  const ready = new Map<string, Promise<string>>();
  return (tools_hash) => {
    const known = ready.get(tools_hash);
    if (known) return known;
    const made = materialise(store, cache, tools_hash);
    ready.set(tools_hash, made);
    // What failed may work the next time: Postgres was away, the disk was full.
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
      detail: 'the executables of the extension are not those that were installed',
      retryable: false,
    });
  const draft = join(cache, `.${digest}-${randomUUID()}`);
  await mkdir(draft, { recursive: true });
  try {
    for (const { name, content } of files) await writeFile(join(draft, name), content, { mode: 0o555, flag: 'wx' });
    await chmod(draft, 0o555);
    await rename(draft, place);
  } catch (error) {
    await chmod(draft, 0o755).catch(() => {});
    await rm(draft, { recursive: true, force: true });
    // Another worker was faster.
    if (!(await isFolder(place))) throw error;
  }
  return place;
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
