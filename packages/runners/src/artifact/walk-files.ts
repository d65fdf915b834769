import { constants } from 'node:fs';
import { type FileHandle, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';

const { O_RDONLY, O_NOFOLLOW, O_DIRECTORY, O_NONBLOCK } = constants;

/**
 * Opens the regular files below a directory. Each step opens a name relative to an open directory and follows no link, so nothing outside can be
 * reached even if entries are moved meanwhile. The caller closes the files.
 */
export async function* walkFiles(directory: string, limit: number): AsyncGenerator<{ name: string; file: FileHandle }> {
  const budget = { left: limit };
  const root = await open(directory, O_RDONLY | O_NOFOLLOW | O_DIRECTORY).catch(() => null);
  if (root === null) return;
  yield* walk(root, '', budget, 0);
}

const MAX_DEPTH = 32;

async function* walk(
  directory: FileHandle,
  prefix: string,
  budget: { left: number },
  depth: number,
): AsyncGenerator<{ name: string; file: FileHandle }> {
  // By descriptor, because the path may have changed.
  const here = `/proc/self/fd/${directory.fd}`;
  try {
    for (const entry of (await readdir(here, { withFileTypes: true })).sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (budget.left <= 0) return;
      budget.left -= 1;
      const name = join(prefix, entry.name);
      // Non-blocking, because opening a FIFO would wait for its writer.
      const file = await open(join(here, entry.name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => null);
      if (file === null) continue;
      const stat = await file.stat();
      if (stat.isDirectory() && depth < MAX_DEPTH) yield* walk(file, name, budget, depth + 1);
      // A file with a second link may be one from outside.
      else if (stat.isFile() && stat.nlink === 1) yield { name, file };
      else await file.close();
    }
  } finally {
    await directory.close();
  }
}
