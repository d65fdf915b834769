import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The key that was set, else the one of an earlier start, else a new one: so that secrets can be kept at once. */
export async function secretsKey(data_dir: string, set: string | undefined): Promise<string> {
  if (set !== undefined) return set;
  const file = join(data_dir, 'secrets.key');
  const kept = (await readFile(file, 'utf8').catch(() => '')).trim();
  if (kept !== '') return kept;
  const fresh = randomBytes(32).toString('base64');
  await writeFile(file, `${fresh}\n`, { mode: 0o600, flag: 'wx' });
  return fresh;
}
