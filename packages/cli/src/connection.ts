import { type Connection, type ConnectionOptions, type Environment, findConnection } from '@capstan/client/connection';
import { UsageError } from './usage-error.js';

/** Finds the gateway as the SDK does, with the options of the command first. */
export const resolveConnection = (
  { url, key, profile }: ConnectionOptions,
  env: Environment,
  cwd: string,
): Connection => {
  if (url !== undefined && profile !== undefined)
    throw new UsageError('--profile and --url name two gateways', 'Pass one of them: a profile has its own URL.');
  // --url replaces CAPSTAN_URL. Unlike a URL in code, it is used with the key of the environment or the folder.
  const environment = url === undefined ? env : { ...env, CAPSTAN_URL: checkUrl(url) };
  const found = findConnection({ key, profile }, environment, cwd);
  return { url: checkUrl(found.url), key: key === undefined ? found.key : { key, origin: '--key' } };
};

export const checkUrl = (text: string): string => {
  const url = text.replace(/\/+$/, '');
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new UsageError(`"${url}" is not a gateway URL`, 'Expected a URL like http://127.0.0.1:7070.');
  }
  return url;
};
