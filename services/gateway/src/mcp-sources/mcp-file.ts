import { Failure, McpFile, NewMcpServer } from '@capstan/contracts';
import { invalidRequest } from '../http/parse-request.js';

/** What other clients keep beside a server and Capstan decides in another way: their own approvals, icons, kinds. */
const IGNORED = [
  'type',
  'description',
  'disabled',
  'autoApprove',
  'alwaysAllow',
  'disabledTools',
  'gallery',
  'version',
];
const STREAMABLE = new Set(['http', 'streamable-http', 'streamableHttp', 'streamable_http']);

/** The servers of an `mcp.json`, or a Failure that names the place that is wrong. */
export function readMcpFile(sent: unknown): NewMcpServer[] {
  const file = McpFile.safeParse(sent);
  if (!file.success) throw invalidRequest(file.error, 'file');
  return Object.entries(file.data.mcpServers).map(([name, entry]) => readServer(name, entry));
}

function readServer(name: string, entry: Record<string, unknown>): NewMcpServer {
  const { type, disabled } = entry;
  if (type !== undefined && type !== 'stdio' && !STREAMABLE.has(String(type)))
    throw new Failure('INVALID_REQUEST', {
      detail: `mcpServers.${name}.type: ${JSON.stringify(type)} is not spoken here, only stdio and streamable HTTP`,
    });
  const fields = Object.fromEntries(Object.entries(entry).filter(([field]) => !IGNORED.includes(field)));
  const server = NewMcpServer.safeParse({ name, ...fields, ...(disabled === true ? { enabled: false } : {}) });
  if (server.success) return server.data;
  const failure = invalidRequest(server.error, `server ${name}`);
  throw new Failure('INVALID_REQUEST', {
    detail: `mcpServers.${name}: ${failure.message}`,
    context: failure.context,
  });
}
