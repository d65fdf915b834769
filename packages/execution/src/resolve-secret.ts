import { Failure, matchesWildcard, SecretName, toolOfAlias } from '@capstan/contracts';
import { matchesDomain } from '@capstan/egress';
import { isUnavailable, type Store } from '@capstan/store';
import type { Claimed } from '@capstan/store/claim';
import { auditSecretUse, type OpenedSecret, openSecret, type SecretKeys } from '@capstan/store/secret';
import type { SecretFile } from './secret-file.js';
import { readSecretVariables, secretVariable } from './secret-variable.js';
import type { WorkerContext } from './worker-context.js';

export type SecretSources = {
  /** Contains the variables of secrets, spelled as by `secretVariable`. */
  env: Readonly<Record<string, string | undefined>>;
  file?: SecretFile | undefined;
  keys: SecretKeys;
};

/**
 * Resolves `secret://name` from the environment, else the file, else Postgres. Every secret belongs to one tenant; in the environment
 * and the file that is `default` unless they name another. Each use is audited before the value is returned.
 */
export const createSecretResolver = (store: Store, sources: SecretSources): WorkerContext['secret'] => {
  const find = createSecretFinder(store, sources);
  return async (claimed, name, hosts) => {
    if (!SecretName.safeParse(name).success)
      throw new Failure('INVALID_INPUTS', { detail: `${name.slice(0, 80)} cannot be the name of a secret.` });
    const { tenant, actor, invocation_id, attempt, tool_id } = claimed;
    const detail = { invocation_id, attempt, tool_id, hosts: [...hosts] };
    try {
      const secret = await find(tenant, name);
      if (secret === undefined) throw unknown(tenant, name);
      const why = whyRefused(secret, claimed, hosts);
      await auditSecretUse(store.db, { tenant, actor, name, allowed: why === null, detail });
      if (why === null) return secret.value;
      throw new Failure('SECRET_NOT_GRANTED', { detail: `The secret ${name} is ${why}.` });
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      throw new Failure('STORAGE_UNAVAILABLE', { detail: `The secret ${name} could not be read.`, cause: error });
    }
  };
};

/** Looks up a secret, without checking who may use it and without auditing the use. */
export const createSecretFinder = (store: Store, { env, file, keys }: SecretSources) => {
  const variables = readSecretVariables(env);
  return async (tenant: string, name: string): Promise<OpenedSecret | undefined> => {
    const own = variables.get(secretVariable({ tenant, name })) ?? file?.get(tenant, name);
    return own === undefined ? openSecret(store.db, keys, { tenant, name }) : { value: own, tools: null, hosts: null };
  };
};

const unknown = (tenant: string, name: string): Failure =>
  new Failure('INVALID_INPUTS', {
    detail: `There is no secret ${name} for the tenant ${tenant}.`,
    suggestion: `Keep it with PUT /v1/secrets/${name} or \`capstan secret put ${name}\`, or set ${secretVariable({ tenant, name })}.`,
  });

const whyRefused = (
  secret: OpenedSecret,
  { tool_id }: Pick<Claimed, 'tool_id'>,
  hosts: readonly string[],
): string | null => {
  if (secret.tools && !secret.tools.some((pattern) => matchesWildcard(toolOfAlias(pattern), tool_id)))
    return `not for the tool ${tool_id}`;
  const { hosts: allowed } = secret;
  const other = allowed && hosts.find((host) => !allowed.some((pattern) => covers(pattern, host)));
  return other ? `not to be sent to ${other}` : null;
};

/** Whether `pattern` covers every host that `host` matches. `host` may be a pattern itself. */
const covers = (pattern: string, host: string): boolean => {
  if (pattern === '*' || pattern === host) return true;
  if (!host.startsWith('*')) return matchesDomain(host, pattern);
  return pattern.startsWith('*.') && host.startsWith('*.') && matchesDomain(host.slice(2), pattern);
};
