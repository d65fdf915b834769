import { createHash } from 'node:crypto';
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Failure } from '@capstan/contracts';

export type Content = Uint8Array | Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

/** Complete content with its hash: in memory if it is small, otherwise in a file. */
export type Spooled = { sha256: string; size: number } & ({ bytes: Buffer } | { file: string });

/** Reads all content and passes it to `use`. The temporary file is removed afterwards. */
export const spool = async <T>(
  content: Content,
  { inline_bytes, max_bytes }: { inline_bytes: number; max_bytes: number },
  use: (spooled: Spooled) => Promise<T>,
): Promise<T> => {
  const hash = createHash('sha256');
  const chunks: Uint8Array[] = [];
  const disk = temporaryFile();
  let size = 0;
  try {
    for await (const chunk of content instanceof Uint8Array ? [content] : content) {
      size += chunk.length;
      if (size > max_bytes)
        throw new Failure('STORAGE_REFUSED', { detail: `An artifact may have ${max_bytes} bytes at most.` });
      hash.update(chunk);
      if (size <= inline_bytes) chunks.push(chunk);
      else await disk.write([...chunks.splice(0), chunk]);
    }
    const sha256 = hash.digest('hex');
    if (size <= inline_bytes) return await use({ sha256, size, bytes: Buffer.concat(chunks) });
    return await use({ sha256, size, file: await disk.finish() });
  } finally {
    await disk.remove();
  }
};

const temporaryFile = () => {
  let directory: string | undefined;
  let handle: FileHandle | undefined;
  const path = () => join(directory ?? '', 'content');
  const close = async () => {
    await handle?.close();
    handle = undefined;
  };
  return {
    write: async (chunks: Uint8Array[]) => {
      directory ??= await mkdtemp(join(tmpdir(), 'capstan-artifact-'));
      handle ??= await open(path(), 'wx', 0o600);
      await handle.writev(chunks);
    },
    finish: async () => {
      await close();
      return path();
    },
    remove: async () => {
      await close();
      if (directory !== undefined) await rm(directory, { recursive: true, force: true });
    },
  };
};
