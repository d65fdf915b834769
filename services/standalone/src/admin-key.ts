import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { newSecret } from '@capstan/store';

/** The key that was set, else the one of an earlier start, else a new one; kept where the CLI looks for it. */
export async function adminKey(data_dir: string, set: string | undefined): Promise<string> {
  const file = join(data_dir, 'admin.key');
  const key = set ?? (await readKey(file)) ?? newSecret();
  await writeFile(file, `${key}\n`, { mode: 0o600 });
  await chmod(file, 0o600);
  return key;
}

async function readKey(file: string): Promise<string | null> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text.trim() || null;
}
