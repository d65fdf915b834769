import { readFileSync, statSync } from 'node:fs';
import { DEFAULT_TENANT } from '@capstan/contracts';
import { z } from 'zod';

const Values = z.record(z.string(), z.string());
/** `{"name": "value", "another_tenant": {"name": "value"}}` */
const Document = z.record(z.string(), z.union([z.string(), Values]));

const OTHERS = 0o007;
const GROUP_WRITE = 0o020;

export type SecretFile = { get(tenant: string, name: string): string | undefined; values(): string[] };

/**
 * Secrets in a JSON file. It is reloaded when it changes, so that a mounted secret can be rotated. A file that others may read, or
 * that cannot be read, is refused: at the start, and at the first use after a change.
 */
export const openSecretFile = (path: string): SecretFile => {
  let read = { stamp: '', byTenant: new Map<string, Map<string, string>>() };
  const current = (): typeof read => {
    const stat = statSync(path);
    const stamp = `${stat.ino} ${stat.mtimeMs} ${stat.size} ${stat.mode}`;
    if (stamp === read.stamp) return read;
    if (!stat.isFile()) throw new Error(`CAPSTAN_SECRETS_FILE: ${path} is not a file`);
    if ((stat.mode & (OTHERS | GROUP_WRITE)) !== 0)
      throw new Error(`CAPSTAN_SECRETS_FILE: others may read ${path}, or its group write to it; chmod 600 it`);
    read = { stamp, byTenant: parse(path, readFileSync(path, 'utf8')) };
    return read;
  };
  current();
  return {
    get: (tenant, name) => current().byTenant.get(tenant)?.get(name),
    values: () => [...current().byTenant.values()].flatMap((secrets) => [...secrets.values()]),
  };
};

const parse = (path: string, text: string): Map<string, Map<string, string>> => {
  const document = Document.safeParse(parseJson(text));
  // The message does not quote what is wrong, because that could be a secret.
  if (!document.success)
    throw new Error(
      `CAPSTAN_SECRETS_FILE: ${path} is not JSON of names and values, or of tenants with names and values`,
    );
  const byTenant = new Map([[DEFAULT_TENANT, new Map<string, string>()]]);
  for (const [key, value] of Object.entries(document.data)) {
    if (typeof value === 'string') byTenant.get(DEFAULT_TENANT)?.set(key, value);
    else byTenant.set(key, new Map([...(byTenant.get(key) ?? []), ...Object.entries(value)]));
  }
  return byTenant;
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
