import { chmodSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Environment, type Profiles, profilesFile } from '@capstan/client/connection';
import { UsageError } from '../usage-error.js';

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Replaces the file atomically, readable only by its owner. */
export const writeProfiles = (env: Environment, profiles: Profiles): string => {
  const file = profilesFile(env);
  if (file === null)
    throw new UsageError('no configuration folder found', 'Set HOME or XDG_CONFIG_HOME, or pass --url and --key.');
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const beside = `${file}.${process.pid}`;
  writeFileSync(beside, `${JSON.stringify(profiles, null, 2)}\n`, { mode: 0o600 });
  chmodSync(beside, 0o600);
  renameSync(beside, file);
  return file;
};

export const checkProfileName = (name: string): string => {
  if (!NAME.test(name))
    throw new UsageError(
      `${JSON.stringify(name)} is not a valid profile name`,
      'Use letters, digits, dots, dashes and underscores.',
    );
  return name;
};
