import { Failure, NewMcpServer, type RegistryServer } from '@capstan/contracts';
import { z } from 'zod';
import type { GatewayContext } from '../gateway-context.js';
import { invalidRequest } from '../http/parse-request.js';

const MAX_BYTES = 1024 * 1024;
const TIMEOUT_MS = 15_000;

/** A value that a server needs, as a variable, a header or an argument. */
const Value = z.object({
  name: z.string().optional(),
  value: z.string().optional(),
  default: z.string().optional(),
  isRequired: z.boolean().default(false),
});
type Value = z.infer<typeof Value>;
const Argument = Value.extend({ type: z.string().optional() });
const Package = z.object({
  registryType: z.string(),
  identifier: z.string(),
  version: z.string().optional(),
  transport: z.object({ type: z.string() }).default({ type: 'stdio' }),
  runtimeArguments: z.array(Argument).default([]),
  packageArguments: z.array(Argument).default([]),
  environmentVariables: z.array(Value).default([]),
});
type Package = z.infer<typeof Package>;
const Remote = z.object({ type: z.string(), url: z.string(), headers: z.array(Value).default([]) });
type Remote = z.infer<typeof Remote>;

/** The versions of the registry API, the newest first. What is used of their answers here is the same. */
const API_VERSIONS = ['v0.1', 'v0'];

/** The parts of an answer that are used here. */
const Entry = z.object({
  server: z.object({ packages: z.array(Package).default([]), remotes: z.array(Remote).default([]) }),
  _meta: z
    .object({ 'io.modelcontextprotocol.registry/official': z.object({ status: z.string().optional() }).optional() })
    .optional(),
});

/** Looks up a server in the registry, in its latest version. Versions published later change nothing. */
export async function findInRegistry(gateway: GatewayContext, wanted: RegistryServer): Promise<NewMcpServer> {
  const { registry, name = registry.slice(registry.indexOf('/') + 1), env, headers, ...rest } = wanted;
  const { server, _meta } = await read(gateway, registry);
  if (_meta?.['io.modelcontextprotocol.registry/official']?.status === 'deleted')
    throw new Failure('NOT_FOUND', { detail: `${registry} was deleted from the registry.` });
  const remote = server.remotes.find(({ type }) => type === 'streamable-http');
  const found = server.packages.find(({ registryType, transport }) => registryType in STARTED && isStdio(transport));
  if (!remote && !found)
    throw new Failure('INVALID_REQUEST', {
      detail: `${registry} can be neither called over streamable HTTP nor started with npx or uvx.`,
      suggestion: 'Add it with its program or its URL.',
    });
  const config = remote ? fromRemote(registry, remote, headers) : found && fromPackage(registry, found, env);
  const parsed = NewMcpServer.safeParse({ name, ...config, ...rest });
  if (!parsed.success) throw invalidRequest(parsed.error, 'server');
  return parsed.data;
}

async function read(gateway: GatewayContext, registry: string): Promise<z.infer<typeof Entry>> {
  const { mcp_registry_url } = gateway;
  if (mcp_registry_url === undefined)
    throw new Failure('ILLEGAL_STATE', {
      detail: `${registry} is a name in a registry, and no registry is configured.`,
      suggestion: 'Set CAPSTAN_MCP_REGISTRY_URL on the gateway, or add the server with its program or its URL.',
    });
  const base = mcp_registry_url.replace(/\/$/, '');
  for (const version of API_VERSIONS) {
    const url = new URL(`${base}/${version}/servers/${encodeURIComponent(registry)}/versions/latest`);
    const entry = await readEntry(gateway, url, registry);
    if (entry) return entry;
  }
  throw new Failure('NOT_FOUND', { detail: `The registry has no server ${registry}.` });
}

/** Null if the registry does not know the server, or this version of the API. */
async function readEntry(
  { egress, log }: GatewayContext,
  url: URL,
  registry: string,
): Promise<z.infer<typeof Entry> | null> {
  const response = await egress.fetch(url.href, {
    method: 'GET',
    headers: { accept: 'application/json' },
    body: null,
    // May be private, because an operator configured it.
    rules: { network: [url.hostname], deny_private_ips: false },
    signal: AbortSignal.timeout(TIMEOUT_MS),
    max_redirects: 0,
  });
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > MAX_BYTES) throw unusable(`an answer of more than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  if (response.status === 404) return null;
  if (response.status !== 200) throw unusable(`it answered with ${response.status}`);
  try {
    return Entry.parse(JSON.parse(Buffer.concat(chunks).toString()));
  } catch (error) {
    log.warn({ err: error, registry }, 'the MCP registry returned an entry that could not be read');
    throw unusable('its response does not match the registry API');
  }
}

const unusable = (why: string) =>
  new Failure('EGRESS_FAILED', {
    detail: `The MCP registry could not be used: ${why}.`,
    suggestion: 'Check CAPSTAN_MCP_REGISTRY_URL, or try again later.',
  });

const isStdio = ({ type }: { type: string }): boolean => type === 'stdio';

/** How packages are started, in exactly the version that the registry names. */
const STARTED: Record<string, (found: Package) => [command: string, ...args: string[]]> = {
  npm: ({ identifier, version }) => ['npx', '-y', version ? `${identifier}@${version}` : identifier],
  pypi: ({ identifier, version }) => ['uvx', version ? `${identifier}==${version}` : identifier],
};

function fromPackage(registry: string, found: Package, given: Record<string, string> = {}) {
  const [command = '', ...started] = STARTED[found.registryType]?.(found) ?? [];
  const [first, ...rest] = found.registryType === 'npm' ? started : [undefined, ...started];
  const args = [
    ...(first === undefined ? [] : [first]),
    ...found.runtimeArguments.flatMap((one) => argument(registry, one)),
    ...rest,
    ...found.packageArguments.flatMap((one) => argument(registry, one)),
  ];
  const env = filled(registry, 'env', found.environmentVariables, given);
  return { command, args, ...(Object.keys(env).length > 0 ? { env } : {}) };
}

function fromRemote(registry: string, { url, headers: wanted }: Remote, given: Record<string, string> = {}) {
  const headers = filled(registry, 'header', wanted, given);
  return { url, ...(Object.keys(headers).length > 0 ? { headers } : {}) };
}

/** Undefined if the value has a placeholder, which has to be filled in by whoever adds the server. */
const knownValue = ({ value, default: usual }: Value): string | undefined => {
  const said = value ?? usual;
  return said === undefined || /\{[^{}]+\}/.test(said) ? undefined : said;
};

function argument(registry: string, wanted: z.infer<typeof Argument>): string[] {
  const value = knownValue(wanted);
  const { type, name = '', isRequired } = wanted;
  if (value !== undefined) return type === 'named' ? [name, value] : [value];
  if (!isRequired) return [];
  throw new Failure('INVALID_REQUEST', {
    detail: `${registry} needs an argument that the registry does not provide: ${name || 'a value'}.`,
    suggestion: `Add it with its program: capstan mcp add <name> -- …`,
  });
}

function filled(registry: string, option: 'env' | 'header', wanted: readonly Value[], given: Record<string, string>) {
  const values = wanted.flatMap((one): [string, string][] => {
    const value = knownValue(one);
    return one.name === undefined || value === undefined ? [] : [[one.name, value]];
  });
  const all = { ...Object.fromEntries(values), ...given };
  const missing = wanted.flatMap(({ name, isRequired }) => (isRequired && name && !(name in all) ? [name] : []));
  if (missing.length === 0) return all;
  throw new Failure('INVALID_REQUEST', {
    detail: `${registry} needs ${missing.join(', ')}.`,
    suggestion: `Give ${missing.map((name) => `--${option} ${name}=…`).join(' ')}; secret://name in a value is a secret.`,
    context: { missing },
  });
}
