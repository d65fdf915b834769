import { constants } from 'node:fs';
import { access, copyFile, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { nanoid } from 'nanoid';
import type { ArtifactPlace } from './artifact-place.js';

/** A directory that every gateway and worker of the installation can access. Files appear in it atomically. */
export const diskPlace = (directory: string): ArtifactPlace => {
  const root = resolve(directory);
  const pathOf = (sha256: string) => join(root, sha256.slice(0, 2), sha256);
  const has = (sha256: string) =>
    access(pathOf(sha256), constants.R_OK).then(
      () => true,
      () => false,
    );
  return {
    name: 'disk',
    has,
    put: async (sha256, file) => {
      if (await has(sha256)) return;
      const path = pathOf(sha256);
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      const incoming = `${path}.${nanoid()}`;
      try {
        await copyFile(file, incoming, constants.COPYFILE_EXCL);
        await rename(incoming, path);
      } finally {
        await rm(incoming, { force: true });
      }
    },
    get: async (sha256) => {
      const file = await open(pathOf(sha256), 'r').catch(ifMissing);
      return file === null ? null : file.createReadStream();
    },
    delete: (sha256) => rm(pathOf(sha256), { force: true }),
  };
};

const ifMissing = (error: unknown): null => {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
  throw error;
};
