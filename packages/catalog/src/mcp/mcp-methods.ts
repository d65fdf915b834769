import { type Descriptor, type JsonObject, type McpMethod, type NewMcpServer, NO_EFFECTS } from '@capstan/contracts';
import { mcpTier, mcpTrust } from './mcp-trust.js';

/** The features of a server besides its tools. */
export type McpOffers = { prompts: boolean; resources: boolean; completions: boolean; subscribe: boolean };

const text = (maxLength: number): JsonObject => ({ type: 'string', minLength: 1, maxLength });
const ARGUMENTS: JsonObject = { type: 'object', additionalProperties: { type: 'string' } };

type Method = { method: McpMethod; description: string; input_schema: JsonObject };

const PROMPTS: Method = {
  method: 'prompts/get',
  description: 'Get a prompt of an MCP server',
  input_schema: {
    ...{ type: 'object', required: ['name'], additionalProperties: false },
    properties: { name: text(256), arguments: ARGUMENTS },
  },
};
const byUri = (method: McpMethod, description: string): Method => ({
  ...{ method, description },
  input_schema: { type: 'object', required: ['uri'], properties: { uri: text(8192) }, additionalProperties: false },
});
const COMPLETION: Method = {
  method: 'completion/complete',
  description: 'Complete an argument of a prompt or of a resource of an MCP server',
  input_schema: {
    ...{ type: 'object', required: ['ref', 'argument'], additionalProperties: false },
    properties: { ref: { type: 'object' }, argument: { type: 'object' }, context: { type: 'object' } },
  },
};

/**
 * Prompts, resources and completions of a server as tools, `mcp:<server>:prompts/get`, so that policy decides on them, a
 * worker requests them and they are recorded, like any call.
 */
export function toMcpMethods(server: NewMcpServer, offers: McpOffers): Descriptor[] {
  const methods = [
    ...(offers.prompts ? [PROMPTS] : []),
    ...(offers.resources ? [byUri('resources/read', 'Read a resource of an MCP server')] : []),
    ...(offers.subscribe ? [byUri('resources/subscribe', 'Hear of changes of a resource of an MCP server')] : []),
    ...(offers.completions ? [COMPLETION] : []),
  ];
  return methods.map(({ method, description, input_schema }) => ({
    tool_id: mcpMethodId(server.name, method),
    name: method,
    description,
    source: 'mcp',
    origin: server.name,
    runner: 'mcp',
    binding: { kind: 'mcp', server: server.name, tool: method, method },
    input_schema,
    risk: 'LOW',
    side_effects: mcpTier(server) === 'local' ? ['fs.read'] : ['fs.read', 'network.http'],
    effects: {
      ...NO_EFFECTS,
      network: mcpTier(server) !== 'local',
      filesystem: { read: true, write: false, delete: false },
    },
    trust: mcpTrust(server),
    inferred: [],
    ...(server.timeout_ms === undefined ? {} : { timeout_ms: server.timeout_ms }),
  }));
}

export const mcpMethodId = (server: string, method: McpMethod): string => `mcp:${server}:${method}`;
