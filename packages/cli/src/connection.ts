import { type FoundKey, findKey } from './find-key.js';
import type { Io } from './io.js';
import { UsageError } from './usage-error.js';

export type ConnectionOptions = { url?: string | undefined; key?: string | undefined };
export type Connection = { url: string; key: FoundKey | null };

const DEFAULT_PORT = '7070';

/** Where the gateway is and with which key to ask it: options first, then the environment, then what `capstan up` left. */
export const resolveConnection = (options: ConnectionOptions, env: Io['env'], cwd: string): Connection => {
  const port = env.CAPSTAN_PORT || env.PORT || DEFAULT_PORT;
  const url = (options.url ?? (env.CAPSTAN_URL || `http://127.0.0.1:${port}`)).replace(/\/+$/, '');
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new UsageError(`"${url}" is not an address of a gateway`, 'Give one like http://127.0.0.1:7070.');
  }
  return { url, key: options.key === undefined ? findKey(env, cwd) : { key: options.key, origin: '--key' } };
};
