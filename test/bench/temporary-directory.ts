import { rmSync } from 'node:fs';
import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Cleanup } from './cleanup.js';

/** A directory for logs and databases that is gone when the bench is. */
export async function makeTemporaryDirectory(cleanup: Cleanup): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'capstan-bench-'));
  const remove = () => rmSync(directory, { recursive: true, force: true });
  await cleanup.defer(remove);
  process.once('exit', remove); // also when something else ends the process before the cleanup is through
  await chmod(directory, 0o755); // started by root, Postgres runs as another user and has to pass through
  return directory;
}
