import { Failure, isObject, McpFile, NewMcpServer } from '@capstan/contracts';
import { invalidFields, invalidRequest } from '../http/parse-request.js';

/** Fields of other clients that Capstan does not need: their approvals, icons and transport types. */
const IGNORED: ReadonlySet<string> = new Set([
  ...[
    'type',
    'transportType',
    'description',
    'disabled',
    'autoApprove',
    'alwaysAllow',
    'gallery',
    'version',
    'timeout',
  ],
  ...['icon', 'tags', 'note', 'source', 'settings', 'dev', 'sandbox', 'sandboxEnabled'],
]);
/** Names that other clients use for a field. */
const SPELT: Record<string, string> = { httpUrl: 'url', serverUrl: 'url' };
const PROGRAM = new Set(['stdio', 'local']);
const STREAMABLE = new Set(['http', 'streamable-http', 'streamableHttp', 'streamable_http']);

/** Reads the servers of an `mcp.json`. Throws a Failure that names the invalid place. */
export function readMcpFile(sent: unknown): NewMcpServer[] {
  const file = McpFile.safeParse(sent);
  if (!file.success) throw invalidRequest(file.error, 'file');
  const servers = Object.entries(file.data.mcpServers).map(([name, entry]) => readServer(name, entry));
  const twice = servers.find(({ name }, at) => servers.findIndex((other) => other.name === name) !== at);
  if (twice)
    throw new Failure('INVALID_REQUEST', { detail: `Two servers would be named ${twice.name}: rename one of them.` });
  return servers;
}

/** Other clients take any name, and galleries give names such as `acme/files`. */
const nameFrom = (given: string): string => given.replaceAll(/[\s/@]+/g, '-').replace(/^-+|-+$/g, '');

/** Other clients know the OAuth client of a server as `auth`, or spell its fields differently. */
const SPELT_IN_OAUTH: Record<string, string> = {
  ...{ CLIENT_ID: 'client_id', clientId: 'client_id', CLIENT_SECRET: 'client_secret', clientSecret: 'client_secret' },
  scopes: 'scope',
};
const IGNORED_IN_OAUTH: ReadonlySet<string> = new Set(['callbackPort', 'redirectUri', 'enabled']);

const oauthFrom = (given: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(given).flatMap(([field, value]) =>
      IGNORED_IN_OAUTH.has(field)
        ? []
        : [[SPELT_IN_OAUTH[field] ?? field, field === 'scopes' && Array.isArray(value) ? value.join(' ') : value]],
    ),
  );

/** Zed used to nest the program. */
const flat = ({ command, ...entry }: Record<string, unknown>): Record<string, unknown> => {
  if (!isObject(command)) return command === undefined ? entry : { ...entry, command };
  const { path, ...rest } = command;
  return { ...entry, command: path, ...rest };
};

function readServer(name: string, given: Record<string, unknown>): NewMcpServer {
  const entry = flat(given);
  const { type, disabled } = entry;
  if (type !== undefined && !PROGRAM.has(String(type)) && !STREAMABLE.has(String(type)))
    throw new Failure('INVALID_REQUEST', {
      detail: `mcpServers.${name}.type: ${JSON.stringify(type)} is not supported; use stdio or streamable HTTP`,
    });
  const { includeTools, excludeTools, disabledTools, tools: choice, auth, oauth = auth, ...kept } = entry;
  const fields = Object.fromEntries(
    Object.entries(kept).flatMap(([field, value]) => {
      // In other clients, `trust: true` approves every call; here `trust` is a level.
      const isNone = IGNORED.has(field) || (field === 'trust' && typeof value === 'boolean');
      return isNone ? [] : [[SPELT[field] ?? field, value]];
    }),
  );
  const deny = excludeTools ?? disabledTools;
  const allow = includeTools ?? (Array.isArray(choice) ? choice : undefined);
  const tools = { ...(isObject(choice) ? choice : {}), ...(allow ? { allow } : {}), ...(deny ? { deny } : {}) };
  const server = NewMcpServer.safeParse({
    name: nameFrom(name),
    ...(Object.keys(tools).length > 0 ? { tools } : {}),
    ...(oauth === undefined ? {} : { oauth: isObject(oauth) ? oauthFrom(oauth) : oauth }),
    ...fields,
    ...(disabled === true ? { enabled: false } : {}),
  });
  if (server.success) return server.data;
  const { message, errors } = invalidFields(server.error, `server ${name}`);
  throw new Failure('INVALID_REQUEST', {
    detail: `mcpServers.${name}: ${message}`,
    context: {
      errors: errors.map(({ field, ...rest }) => ({
        field: ['mcpServers', name, field].filter(Boolean).join('.'),
        ...rest,
      })),
    },
  });
}
