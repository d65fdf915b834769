import { type Descriptor, NO_EFFECTS } from '@capstan/contracts';

/** Discovers the tools of an MCP server. An invocation like any other, so that the server's process runs in a worker. */
export const MCP_DISCOVER = 'mcp.discover';

export const MCP_TOOLS: Descriptor[] = [
  {
    tool_id: MCP_DISCOVER,
    name: MCP_DISCOVER,
    description: 'List the tools of a registered MCP server',
    source: 'core',
    origin: 'core',
    runner: 'mcp',
    binding: { kind: 'native' },
    input_schema: {
      type: 'object',
      required: ['server'],
      properties: { server: { type: 'string', minLength: 1, maxLength: 63 } },
      additionalProperties: false,
    },
    risk: 'MED',
    side_effects: ['system.exec', 'network.http'],
    effects: {
      ...NO_EFFECTS,
      network: true,
      subprocess: true,
      filesystem: { read: true, write: false, delete: false },
    },
    trust: 'native',
    inferred: [],
  },
];
