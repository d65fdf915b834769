import type { JsonObject } from '@capstan/contracts';
import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  type Result,
  type Tool,
} from '@modelcontextprotocol/server';
import type { GatewayContext } from '../gateway-context.js';
import { callTool } from './call-tool.js';
import { type Exchange, isObject, type McpVisit } from './exchange.js';
import { listTools } from './list-tools.js';

export const SEARCH = 'search_tools';
export const CALL = 'call_tool';
const MAX_FOUND = 20;

/** In place of a list that is too long for a model: a tool that finds the others, and one that calls what was found. */
export const SEARCH_TOOLS: Tool[] = [
  {
    name: SEARCH,
    description: 'Find tools by words of their names and descriptions. Answers how each is called.',
    inputSchema: {
      type: 'object',
      required: ['query'],
      properties: { query: { type: 'string' }, limit: { type: 'integer', minimum: 1, maximum: MAX_FOUND } },
    },
    annotations: { readOnlyHint: true, openWorldHint: false },
  },
  {
    name: CALL,
    description: `Call a tool that ${SEARCH} found, by its name and with the arguments that its inputSchema wants.`,
    inputSchema: {
      type: 'object',
      required: ['name'],
      properties: { name: { type: 'string' }, arguments: { type: 'object' } },
    },
  },
];

/** A call at a toolset whose tools are searched for. */
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
  const most = typeof limit === 'number' ? Math.min(limit, MAX_FOUND) : MAX_FOUND;
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

/** A word in the name says more than one in the description. */
function scoreOf({ name, title = '', description = '' }: Tool, words: readonly string[]): number {
  const [named, described] = [wordsOf(`${name.replaceAll('_', ' ')} ${title}`), wordsOf(description)];
  const score = (word: string) =>
    (named.includes(word) ? 4 : named.some((one) => one.startsWith(word)) ? 2 : 0) + (described.includes(word) ? 1 : 0);
  return words.reduce((sum, word) => sum + score(word), 0);
}
