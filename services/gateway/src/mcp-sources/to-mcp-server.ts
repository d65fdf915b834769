import { mcpTier, mcpTrust } from '@capstan/catalog';
import type { Descriptor, McpServer, McpToolChange } from '@capstan/contracts';
import type { ChangedTool, McpServerRow } from '@capstan/store/mcp-server';

/** A server without its secrets. */
export function toMcpServer(row: McpServerRow, changed: readonly string[] = []): McpServer {
  const { config } = row;
  return {
    name: row.name,
    transport: config.url === undefined ? 'stdio' : 'http',
    command: config.command ?? null,
    args: config.args ?? [],
    env: hidden(config.env),
    permissions: config.permissions ?? [],
    paths: config.paths ?? [],
    asks: config.asks ?? [],
    tool_choice: config.tools ?? {},
    pin: config.pin ?? true,
    url: config.url === undefined ? null : withoutQuery(config.url),
    headers: hidden(config.headers),
    tier: mcpTier(config),
    trust: mcpTrust(config),
    timeout_ms: config.timeout_ms ?? null,
    enabled: row.enabled,
    status: statusOf(row),
    tools: row.tools,
    prompts: row.listing?.prompts.length ?? 0,
    resources: row.listing?.resources.length ?? 0,
    protocol_version: row.listing?.protocol_version ?? null,
    changed: [...changed],
    stale: row.stale,
    last_discovery: row.discovered_at,
    last_error: row.error,
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
}

const said = ({ description, input_schema, output_schema, risk, effects }: Descriptor): McpToolChange['before'] => ({
  ...{ description, input_schema, output_schema: output_schema ?? null, risk, effects },
});

export const toToolChange = ({ tool_id, before, after, found_at }: ChangedTool): McpToolChange => ({
  ...{ tool_id, before: said(before), after: said(after), found_at },
});

function statusOf({ enabled, error, discovered_at }: McpServerRow): McpServer['status'] {
  if (!enabled) return 'disabled';
  if (error !== null) return 'failing';
  return discovered_at === null ? 'pending' : 'ready';
}

const REFERENCE = /secret:\/\//;

/** A literal value may be a secret; a reference to a secret is not. */
const hidden = (values: Record<string, string> = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, REFERENCE.test(value) ? value : '[hidden]']));

/** Some services expect their key in the query. */
const withoutQuery = (text: string): string => {
  const url = new URL(text);
  if (url.search !== '') url.search = '?[hidden]';
  return url.href;
};
