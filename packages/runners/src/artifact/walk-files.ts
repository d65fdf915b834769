import { constants } from 'node:fs';
import { type FileHandle, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';

const { O_RDONLY, O_NOFOLLOW, O_DIRECTORY, O_NONBLOCK } = constants;

/**
 * The regular files below a directory, opened. Every step goes from an open directory to a name in it and follows no
 * link, so that nothing outside can be reached, whatever is moved about meanwhile. Whoever takes a file closes it.
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
  // Through its descriptor, whatever its path has become.
  const here = `/proc/self/fd/${directory.fd}`;
  try {
    for (const entry of (await readdir(here, { withFileTypes: true })).sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (budget.left <= 0) return;
      budget.left -= 1;
      const name = join(prefix, entry.name);
      // A FIFO would wait for its writer.
      const file = await open(join(here, entry.name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => null);
      if (file === null) continue;
      const stat = await file.stat();
      if (stat.isDirectory() && depth < MAX_DEPTH) yield* walk(file, name, budget, depth + 1);
      // A second name may be that of a file outside.
      else if (stat.isFile() && stat.nlink === 1) yield { name, file };
      else await file.close();
    }
  } finally {
    await directory.close();
  }
}
