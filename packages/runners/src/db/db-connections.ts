import { DEFAULT_TENANT } from '@capstan/contracts';

/** A database that tools may query, as configured by the operator. */
export type DbConnection = { tenant: string; name: string } & (
  | { kind: 'postgres'; url: string }
  | { kind: 'sqlite'; path: string }
);

const PREFIX = 'CAPSTAN_DB_';
/** Settings of Capstan that are not connections. */
const SETTINGS: ReadonlySet<string> = new Set(['CAPSTAN_DB_FILE']);

/**
 * Reads `CAPSTAN_DB_<NAME>`, and `CAPSTAN_DB_<TENANT>__<NAME>` for tenants other than the default one: postgres://… or sqlite:/path. `listed` are
 * those from a file, by the same names without the prefix. Throws for any other URL, without quoting it, because it may contain a password.
 */
export const dbConnections = (
  env: Readonly<Record<string, string | undefined>>,
  listed: Readonly<Record<string, string>> = {},
): DbConnection[] => [
  ...Object.entries(env).flatMap(([variable, url]) =>
    variable.startsWith(PREFIX) && !SETTINGS.has(variable) && url !== undefined && url !== ''
      ? [toConnection(variable.slice(PREFIX.length), url)]
      : [],
  ),
  ...Object.entries(listed).map(([name, url]) => toConnection(name, url)),
];

const toConnection = (spelt: string, url: string): DbConnection => {
  const [first = '', ...rest] = spelt.toLowerCase().split('__');
  const place = rest.length === 0 ? { tenant: DEFAULT_TENANT, name: first } : { tenant: first, name: rest.join('__') };
  if (/^postgres(?:ql)?:\/\//.test(url) && URL.canParse(url)) return { ...place, kind: 'postgres', url };
  const path = /^sqlite:(?:\/\/)?(.+)$/.exec(url)?.[1];
  if (path !== undefined) return { ...place, kind: 'sqlite', path };
  throw new Error(`${PREFIX}${spelt}: not a postgres:// or sqlite: URL`);
};

/** Names ignore case and treat `-`, `.` and `_` as equal, because environment variables allow only `_`. */
export const isNamed = (connection: DbConnection, tenant: string, name: string): boolean =>
  spell(connection.tenant) === spell(tenant) && spell(connection.name) === spell(name);

const spell = (word: string): string => word.toLowerCase().replaceAll(/[.-]/g, '_');
