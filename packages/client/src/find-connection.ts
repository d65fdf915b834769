import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export type ConnectionOptions = { url?: string | undefined; key?: string | undefined };

const DEFAULT_PORT = '7070';

/**
 * Where the gateway is and with which key to ask it: as given, else CAPSTAN_URL and CAPSTAN_API_KEY, else what `capstan up` left
 * here or in a folder above. An address that was given gets no key that was not.
 */
export function findConnection({ url, key }: ConnectionOptions = {}): { url: string; key?: string } {
  if (url !== undefined) return { url, ...(key === undefined ? {} : { key }) };
  const { env } = process;
  const found = key ?? (env.CAPSTAN_API_KEY || findKey(env.CAPSTAN_DATA_DIR, process.cwd()));
  return {
    url: env.CAPSTAN_URL || `http://127.0.0.1:${env.CAPSTAN_PORT || env.PORT || DEFAULT_PORT}`,
    ...(found === null ? {} : { key: found }),
  };
}

function findKey(data_dir: string | undefined, cwd: string): string | null {
  if (data_dir) return readKey(join(data_dir, 'admin.key'));
  for (let folder = cwd; ; folder = dirname(folder)) {
    const key = readKey(join(folder, '.capstan', 'admin.key'));
    if (key !== null || dirname(folder) === folder) return key;
  }
}

const readKey = (path: string): string | null => {
  try {
    return readFileSync(path, 'utf8').trim() || null;
  } catch {
    return null;
  }
};
