import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findProfile, readProfiles } from './profiles.js';
import { settingsError } from './settings-error.js';

export type ConnectionOptions = {
  url?: string | undefined;
  key?: string | undefined;
  /** A login of `capstan login`. */
  profile?: string | undefined;
};
/** `origin` names where a key was found, for people. */
export type FoundKey = { key: string; origin: string };
export type Connection = { url: string; key: FoundKey | null };
export type Environment = Readonly<Record<string, string | undefined>>;

const DEFAULT_PORT = '7070';

/**
 * Finds the gateway and key: the given ones, otherwise those of the environment, otherwise those of a `capstan up` in this folder or
 * one above, otherwise the profile that was logged in last. A given URL is never used with a key from elsewhere, and the key of a
 * profile is sent only to its own gateway.
 */
export function findConnection(
  { url, key, profile }: ConnectionOptions = {},
  env: Environment = process.env,
  cwd: string = process.cwd(),
): Connection {
  const given = key === undefined ? null : { key, origin: 'the options' };
  if (url !== undefined) {
    if (profile !== undefined)
      throw settingsError(
        'a profile and an address are two gateways',
        'Give one of them; a profile has its own address.',
      );
    return { url, key: given };
  }
  const named = profile ?? profileOf(env);
  if (named !== undefined) return fromProfile(named, env, given);
  const found = given ?? findKey(env, cwd);
  const port = env.CAPSTAN_PORT || env.PORT;
  if (!env.CAPSTAN_URL && !port && found === null) {
    const { current } = readProfiles(env);
    if (current !== null) return fromProfile(current, env, null);
  }
  return { url: env.CAPSTAN_URL || `http://127.0.0.1:${port || DEFAULT_PORT}`, key: found };
}

/** The environment names a profile, unless it names the gateway or the key itself. */
const profileOf = (env: Environment): string | undefined =>
  env.CAPSTAN_URL || env.CAPSTAN_API_KEY ? undefined : env.CAPSTAN_PROFILE || undefined;

const fromProfile = (name: string, env: Environment, given: FoundKey | null): Connection => {
  const { url, key } = findProfile(env, name);
  return { url, key: given ?? { key, origin: `the profile ${name}` } };
};

const findKey = (env: Environment, cwd: string): FoundKey | null => {
  if (env.CAPSTAN_API_KEY) return { key: env.CAPSTAN_API_KEY, origin: 'CAPSTAN_API_KEY' };
  if (env.CAPSTAN_DATA_DIR) return readKey(env.CAPSTAN_DATA_DIR);
  for (let folder = cwd; ; folder = dirname(folder)) {
    const found = readKey(join(folder, '.capstan'));
    if (found !== null || dirname(folder) === folder) return found;
  }
};

/** The key that `capstan up` writes on its first start. */
const readKey = (data_dir: string): FoundKey | null => {
  const origin = join(data_dir, 'admin.key');
  try {
    const key = readFileSync(origin, 'utf8').trim();
    return key === '' ? null : { key, origin };
  } catch {
    return null;
  }
};
