import { isObject, type JsonObject } from '@capstan/contracts';
import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  type Result,
  type Tool,
} from '@modelcontextprotocol/server';
import type { GatewayContext } from '../gateway-context.js';
import { callTool } from './call-tool.js';
import type { Exchange, McpVisit } from './exchange.js';
import { listTools } from './list-tools.js';

const SEARCH = 'search_tools';
const CALL = 'call_tool';
const MAX_FOUND = 20;

/** Replaces a list of tools that is too long for a model: one tool to find the others, and one to call them. */
export const SEARCH_TOOLS: Tool[] = [
  {
    name: SEARCH,
    description: 'Find tools by words in their names and descriptions. Returns how to call each of them.',
    inputSchema: {
      type: 'object',
      required: ['query'],
      properties: { query: { type: 'string' }, limit: { type: 'integer', minimum: 1, maximum: MAX_FOUND } },
    },
    annotations: { readOnlyHint: true, openWorldHint: false },
  },
  {
    name: CALL,
    description: `Call a tool that ${SEARCH} found, by its name and with arguments that match its inputSchema.`,
    inputSchema: {
      type: 'object',
      required: ['name'],
      properties: { name: { type: 'string' }, arguments: { type: 'object' } },
    },
  },
];

/** A tool call at a toolset with search. */
export async function callOrSearch(gateway: GatewayContext, exchange: Exchange): Promise<Result> {
  const { params, visit } = exchange;
  const args = isObject(params.arguments) ? params.arguments : {};
  if (params.name === SEARCH) return search(gateway, visit, args);
  if (params.name !== CALL) return callTool(gateway, exchange);
  if (typeof args.name !== 'string') throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'name is missing');
  const called = { name: args.name, arguments: isObject(args.arguments) ? args.arguments : {} };
  return callTool(gateway, { ...exchange, params: { ...params, ...called } });
}

function search(gateway: GatewayContext, visit: McpVisit, { query, limit }: JsonObject): CallToolResult {
  const words = wordsOf(String(query ?? ''));
  const most = typeof limit === 'number' ? Math.max(1, Math.min(limit, MAX_FOUND)) : MAX_FOUND;
  const found = listTools(gateway, visit)
    .map((tool) => ({ tool, score: scoreOf(tool, words) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || a.tool.name.localeCompare(b.tool.name))
    .slice(0, most)
    .map(({ tool: { name, description, inputSchema } }) => ({ name, description, inputSchema }));
  const structuredContent = { tools: found };
  return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** A match in the name counts more than one in the description. */
function scoreOf({ name, title = '', description = '' }: Tool, words: readonly string[]): number {
  const [named, described] = [wordsOf(`${name.replaceAll('_', ' ')} ${title}`), wordsOf(description)];
  const score = (word: string) =>
    (named.includes(word) ? 4 : named.some((one) => one.startsWith(word)) ? 2 : 0) + (described.includes(word) ? 1 : 0);
  return words.reduce((sum, word) => sum + score(word), 0);
}
