import type { McpFile, McpPermission, NewMcpServer, RegistryServer } from '@capstan/contracts';
import { isObject } from '@capstan/contracts/is-object';
import { type ParseError, parse, printParseErrorCode } from 'jsonc-parser';
import { UsageError } from '../usage-error.js';

export type AddOptions = {
  file?: string;
  header?: string[];
  env?: string[];
  allow?: McpPermission[];
  tool?: string[];
  denyTool?: string[];
  trust?: McpTrust;
  timeout?: number;
};
export type McpTrust = NonNullable<NewMcpServer['trust']>;

const HTTP = /^https?:\/\//i;

/** Server names contain no slash, and registry names have no such ending. */
export const isFile = (name: string | undefined): name is string => name === '-' || name?.endsWith('.json') === true;

/** A URL alone is named after its host. */
const hostOf = (url: string): string => {
  if (!URL.canParse(url)) throw new UsageError(`${url} is not a URL`);
  return new URL(url).hostname;
};

/** Names in the registry are a reversed domain, a slash and a name: io.github.acme/files. */
const IN_REGISTRY = /^[a-z0-9-]+(?:\.[a-z0-9-]+)+\/[\w.-]+$/i;

export function toMcpServer(
  name: string | undefined,
  [program, ...args]: string[],
  options: AddOptions,
): NewMcpServer | RegistryServer {
  if (name === undefined)
    throw new UsageError('no server given', 'Pass a URL, a name and a program after --, or an mcp.json.');
  if (program === undefined && HTTP.test(name)) return toMcpServer(hostOf(name), [name], options);
  const { tool, denyTool: deny } = options;
  const common = {
    ...(tool || deny ? { tools: { ...(tool ? { allow: tool } : {}), ...(deny ? { deny } : {}) } } : {}),
    ...(options.trust === undefined ? {} : { trust: options.trust }),
    ...(options.timeout === undefined ? {} : { timeout_ms: options.timeout }),
  };
  const headers = options.header === undefined ? {} : { headers: pairs(options.header) };
  const process = {
    ...(options.env === undefined ? {} : { env: pairs(options.env) }),
    ...(options.allow === undefined ? {} : { permissions: options.allow }),
  };
  const registry = program ?? name;
  if (args.length === 0 && IN_REGISTRY.test(registry))
    return { ...common, ...(program === undefined ? {} : { name }), registry, ...headers, ...process };
  if (program === undefined)
    throw new UsageError(`no URL or program given for ${name}`, 'Pass its URL, or the program after --.');
  if (HTTP.test(program)) return { name, ...common, url: program, ...headers };
  return { name, ...common, command: program, args, ...process };
}

function pairs(given: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    given.map((pair): [string, string] => {
      const at = pair.search(/[=:]/);
      if (at < 1) throw new UsageError(`${pair}: expected name=value`);
      return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
    }),
  );
}

/** MCP clients agree on the shape of a server, but not on the name of the list. */
const SERVER_LISTS = ['mcpServers', 'servers', 'context_servers'];

/** What `options` says of all programs of a file. The rest describes one server, and the file has that. */
export function withOptions(file: McpFile, options: AddOptions): McpFile {
  const { file: _, allow, ...others } = options;
  const [other] = Object.keys(others);
  if (other !== undefined)
    throw new UsageError(
      `--${other === 'denyTool' ? 'deny-tool' : other} is for one server`,
      'Write it into the file, or add the server by itself.',
    );
  if (allow === undefined || !isObject(file.mcpServers)) return file;
  const servers = Object.entries(file.mcpServers).map(([name, server]) => [
    name,
    isObject(server) && 'command' in server ? { permissions: allow, ...server } : server,
  ]);
  return { mcpServers: Object.fromEntries(servers) };
}

/** With comments and trailing commas, as editors allow them in such files. */
export function parseMcpFile(text: string, file: string): McpFile {
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error) {
    const line = text.slice(0, error.offset).split('\n').length;
    throw new UsageError(`${file}, line ${line}: not valid JSON: ${printParseErrorCode(error.error)}`);
  }
  if (!isObject(value)) throw new UsageError(`${file}: expected a JSON object`);
  const list = SERVER_LISTS.find((name) => Object.hasOwn(value, name));
  if (list === undefined) throw new UsageError(`${file} has no "mcpServers"`);
  // The gateway validates the servers themselves.
  return { mcpServers: value[list] } as McpFile;
}
