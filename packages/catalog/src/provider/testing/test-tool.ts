import { type Descriptor, NO_EFFECTS } from '@capstan/contracts';

/** A tool of that id, of an MCP server unless told otherwise. */
export const testTool = (tool_id: string, over: Partial<Descriptor> = {}): Descriptor => ({
  tool_id,
  name: tool_id.slice(tool_id.lastIndexOf(':') + 1),
  description: 'A tool',
  source: 'mcp',
  origin: tool_id.split(':')[1] ?? '',
  runner: 'mcp',
  binding: { kind: 'native' },
  input_schema: { type: 'object' },
  risk: 'LOW',
  side_effects: [],
  effects: NO_EFFECTS,
  trust: 'user',
  inferred: [],
  ...over,
});
