import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '@capstan/contracts';
import type { Environment } from './find-connection.js';
import { settingsError } from './settings-error.js';

export type Profile = { url: string; key: string };
/** The contents of the file that `capstan login` writes. `current` is the default gateway. */
export type Profiles = { current: string | null; profiles: Record<string, Profile> };

/** In the user's own configuration folder; null where the environment names no home. */
export const profilesFile = (env: Environment): string | null => {
  const folder = env.XDG_CONFIG_HOME || env.APPDATA || (env.HOME ? join(env.HOME, '.config') : null);
  return folder === null ? null : join(folder, 'capstan', 'profiles.json');
};

export const readProfiles = (env: Environment): Profiles => {
  const file = profilesFile(env);
  const text = file === null ? null : readPrivate(file);
  return file === null || text === null ? { current: null, profiles: {} } : parse(file, text);
};

export const findProfile = (env: Environment, name: string): Profile => {
  const { profiles } = readProfiles(env);
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (profile) return profile;
  const known = Object.keys(profiles);
  throw settingsError(
    `there is no profile ${name}`,
    known.length === 0
      ? `Make it: capstan login <url> --profile ${name}`
      : `There are ${known.join(', ')}; capstan login <url> --profile ${name} makes it.`,
  );
};

/** Null where there is none. A file that others may read is no place for keys. */
const readPrivate = (file: string): string | null => {
  let isOpen: boolean;
  let text: string;
  try {
    isOpen = process.platform !== 'win32' && (statSync(file).mode & 0o077) !== 0;
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw settingsError(
      `cannot read ${file}: ${error instanceof Error ? error.message : String(error)}`,
      'Have it belong to you, or remove it and log in again.',
    );
  }
  if (isOpen) throw settingsError(`others may read ${file}, which has keys in it`, `Close it: chmod 600 ${file}`);
  return text;
};

const parse = (file: string, text: string): Profiles => {
  const broken = settingsError(`${file} is not what capstan login writes`, 'Remove it, and log in again.');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw broken;
  }
  if (!isObject(value) || !isObject(value.profiles)) throw broken;
  const profiles: Record<string, Profile> = {};
  for (const [name, profile] of Object.entries(value.profiles)) {
    if (!isObject(profile) || typeof profile.url !== 'string' || typeof profile.key !== 'string') throw broken;
    profiles[name] = { url: profile.url, key: profile.key };
  }
  return { current: typeof value.current === 'string' ? value.current : null, profiles };
};
