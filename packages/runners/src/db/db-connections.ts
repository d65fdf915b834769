import { DEFAULT_TENANT } from '@capstan/contracts';

/** A database that tools may ask, as the operator named it. */
export type DbConnection = { tenant: string; name: string } & (
  | { kind: 'postgres'; url: string }
  | { kind: 'sqlite'; path: string }
);

const PREFIX = 'CAPSTAN_DB_';
/** Settings of ours that are no connections. */
const SETTINGS: ReadonlySet<string> = new Set(['CAPSTAN_DB_FILE']);

/**
 * `CAPSTAN_DB_<NAME>`, and `CAPSTAN_DB_<TENANT>__<NAME>` for another tenant than the default one: postgres://… or
 * sqlite:/path. `listed` are those of a file, by the same names without the prefix. Throws for one that is neither, and
 * never says the URL: it holds a password.
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

/** Names are the same in any case, and with `-`, `.` or `_`, because variables know no other. */
export const isNamed = (connection: DbConnection, tenant: string, name: string): boolean =>
  spell(connection.tenant) === spell(tenant) && spell(connection.name) === spell(name);

const spell = (word: string): string => word.toLowerCase().replaceAll(/[.-]/g, '_');
