import { DEFAULT_TENANT, Failure, SecretName } from '@capstan/contracts';
import { type Claimed, isUnavailable, openSecret, type SecretKeys, type Store } from '@capstan/store';
import type { SecretFile } from './secret-file.js';
import type { WorkerContext } from './worker-context.js';

export type SecretSources = {
  /** `CAPSTAN_SECRET_<NAME>`, and `CAPSTAN_SECRET_<TENANT>__<NAME>` for another tenant than the default one. */
  env: Readonly<Record<string, string | undefined>>;
  file?: SecretFile | undefined;
  keys: SecretKeys;
};

/**
 * The value behind `secret://name`: from the environment, else from the file, else from Postgres. Each has it for one tenant;
 * what the environment and the file do not say otherwise of belongs to the tenant `default`.
 */
export const createSecretResolver = (store: Store, { env, file, keys }: SecretSources): WorkerContext['secret'] => {
  return async ({ tenant }, name) => {
    if (!SecretName.safeParse(name).success)
      throw new Failure('INVALID_INPUTS', { detail: `${name.slice(0, 80)} cannot be the name of a secret.` });
    const set = env[variableOf(tenant, name)];
    const value =
      (set === '' ? undefined : set) ?? file?.get(tenant, name) ?? (await stored(store, keys, { tenant, name }));
    if (value !== undefined) return value;
    throw new Failure('INVALID_INPUTS', {
      detail: `There is no secret ${name} for the tenant ${tenant}.`,
      suggestion: `Keep it with PUT /v1/secrets/${name} or \`capstan secret put ${name}\`, or set ${variableOf(tenant, name)}.`,
    });
  };
};

const variableOf = (tenant: string, name: string): string =>
  tenant === DEFAULT_TENANT ? `CAPSTAN_SECRET_${spelt(name)}` : `CAPSTAN_SECRET_${spelt(tenant)}__${spelt(name)}`;

const spelt = (word: string): string => word.toUpperCase().replaceAll(/[.-]/g, '_');

const stored = async (
  store: Store,
  keys: SecretKeys,
  place: Pick<Claimed, 'tenant'> & { name: string },
): Promise<string | undefined> => {
  try {
    return await openSecret(store.db, keys, place);
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    throw new Failure('STORAGE_UNAVAILABLE', { detail: `The secret ${place.name} could not be read.`, cause: error });
  }
};
