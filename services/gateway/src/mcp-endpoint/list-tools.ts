import type { CatalogEntry } from '@capstan/catalog';
import { type Decision, type Descriptor, matchesWildcard } from '@capstan/contracts';
import type { CompiledPolicy } from '@capstan/policy';
import type { Tool } from '@modelcontextprotocol/server';
import type { GatewayContext } from '../gateway-context.js';
import { type McpVisit, toolsetLabels } from './exchange.js';
import { mcpNames } from './mcp-names.js';
import { structureOf } from './to-call-result.js';

/** A tool with the name that clients use for it. */
export type ListedTool = {
  name: string;
  entry: CatalogEntry;
  task: 'optional' | 'required' | undefined;
};

/** Denials that may depend on the inputs, which are empty when tools are listed: conditions and constraints. */
const BY_INPUTS: ReadonlySet<string | null> = new Set(['RULE_ERROR', 'CONSTRAINT']);

/** All tools that this key may use, with or without approval. */
export function listTools(gateway: GatewayContext, visit: McpVisit): Tool[] {
  return usableTools(gateway, visit).map(({ tool, decision }) => toTool(gateway, tool, decision));
}

export type UsableTool = { tool: ListedTool; decision: Decision };

function usableTools(gateway: GatewayContext, visit: McpVisit): UsableTool[] {
  const policy = gateway.policies.of(visit.principal.tenant);
  return [...namesFor(gateway, visit)].flatMap(([name, entry]) => {
    const decision = decideListing(policy, visit, entry);
    const usable = decision.effect !== 'deny' || (BY_INPUTS.has(decision.code) && policy.readsInputs(entry.descriptor));
    return usable && entry.unavailable() === null ? [{ tool: toListed(name, entry), decision }] : [];
  });
}

/** Finds a tool by its listed name, by its id, or by the name at its own MCP server if that is unique. */
export function resolveTool(gateway: GatewayContext, visit: McpVisit, name: string): ListedTool | undefined {
  const named = namesFor(gateway, visit);
  const known = named.get(name);
  if (known) return toListed(name, known);
  const [only, ...others] = [...named].filter(
    ([, { descriptor }]) => descriptor.tool_id === name || (descriptor.source === 'mcp' && descriptor.name === name),
  );
  return only && others.length === 0 ? toListed(...only) : undefined;
}

/** Prompts and resources are tools in the catalog, too, but have requests of their own in the protocol. */
const isTool = ({ binding }: Descriptor): boolean => binding.kind !== 'mcp' || binding.method === undefined;

function namesFor({ catalog }: GatewayContext, { toolset }: McpVisit): Map<string, CatalogEntry> {
  const entries = catalog.list().filter(({ descriptor }) => isTool(descriptor));
  if (!toolset) return mcpNames(entries);
  const chosen = entries.filter(({ descriptor: { tool_id } }) =>
    toolset.tools.some((pattern) => matchesWildcard(pattern, tool_id)),
  );
  return mcpNames(chosen, toolset.names === 'plain');
}

const toListed = (name: string, entry: CatalogEntry): ListedTool => {
  const { binding } = entry.descriptor;
  return { name, entry, task: binding.kind === 'mcp' ? binding.task : undefined };
};

export const decideListing = (
  policy: CompiledPolicy,
  { principal: { actor, roles, tenant }, toolset }: McpVisit,
  { descriptor }: CatalogEntry,
): Decision =>
  policy.decide({
    descriptor,
    inputs: {},
    mode: 'execution',
    actor: { name: actor, roles, tenant },
    labels: toolsetLabels(toolset),
    session_id: null,
  });

function toTool(gateway: GatewayContext, { name, entry, task }: ListedTool, decision: Decision): Tool {
  const { descriptor } = entry;
  const outputSchema = structureOf(gateway, descriptor.tool_id);
  return {
    name,
    title: descriptor.tool_id,
    description:
      decision.effect === 'hold' ? `${descriptor.description} (held until a person agrees)` : descriptor.description,
    inputSchema: { ...descriptor.input_schema, type: 'object' },
    ...(outputSchema ? { outputSchema: { ...outputSchema, type: 'object' } } : {}),
    annotations: hintsOf(descriptor),
    execution: { taskSupport: task ?? 'optional' },
    _meta: {
      'capstan/tool_id': descriptor.tool_id,
      'capstan/risk': descriptor.risk,
      'capstan/trust': descriptor.trust,
    },
  };
}

const hintsOf = ({ effects }: Descriptor): NonNullable<Tool['annotations']> => ({
  readOnlyHint: !(effects.destructive || effects.filesystem.write || effects.filesystem.delete || effects.billable),
  destructiveHint: effects.destructive,
  idempotentHint: effects.idempotent,
  openWorldHint: effects.network,
});
