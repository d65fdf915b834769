import {
  type Agent,
  type AgentRuntime,
  type Capability,
  isObject,
  isWildcard,
  type Json,
  type JsonObject,
  matchesWildcard,
  type Provider,
} from '@capstan/contracts';
import type { Catalog } from '../create-catalog.js';
import { type OfferedTool, toProviderTools } from '../provider/to-provider-tools.js';
import { nameTools } from '../provider/tool-names.js';
import type { CapabilityRegistry } from './create-capability-registry.js';

/** An agent with everything its capabilities bring: one prompt, and tools with unique names. */
export type BuiltAgent = {
  system_prompt: string;
  tools: OfferedTool[];
  capabilities: Capability[];
  missing_tools: string[];
  warnings: string[];
};

export type AgentSetup = Pick<Agent, 'system_prompt' | 'capabilities' | 'tools' | 'deny_tools' | 'config'>;

export function buildAgent(
  agent: AgentSetup,
  registry: CapabilityRegistry,
  catalog: Pick<Catalog, 'get' | 'list'>,
): BuiltAgent {
  const capabilities = registry.resolve(agent.capabilities);
  const denied = (tool_id: string) => agent.deny_tools.some((pattern) => matchesWildcard(pattern, tool_id));
  const wanted = [...capabilities.flatMap(({ tools }) => tools), ...agent.tools.flatMap((one) => expand(one, catalog))];
  const allowed = [...new Set(wanted)].filter((tool_id) => !denied(tool_id));
  const found = allowed.flatMap((tool_id) => catalog.get(tool_id)?.descriptor ?? []);
  const tools = nameTools(found).map((tool) => ({ ...tool, defaults: defaultsFor(tool, capabilities, agent.config) }));
  return {
    system_prompt: mergePrompts(agent, capabilities),
    tools,
    capabilities,
    missing_tools: allowed.filter((tool_id) => !catalog.get(tool_id)),
    warnings: capabilities
      .filter(({ status }) => status === 'deprecated')
      .map(({ id }) => `the capability ${id} is deprecated`),
  };
}

export const toRuntime = (agent_id: string, provider: Provider, built: BuiltAgent): AgentRuntime => ({
  agent_id,
  provider,
  system_prompt: built.system_prompt,
  tools: toProviderTools(provider, built.tools),
  names: Object.fromEntries(built.tools.map(({ name, descriptor }) => [name, descriptor.tool_id])),
  capabilities: built.capabilities.map(({ id, version }) => ({ id, version })),
  missing_tools: built.missing_tools,
  warnings: built.warnings,
});

/** An exact id is kept even while its source is unavailable. A pattern expands to the tools that exist. */
const expand = (pattern: string, catalog: Pick<Catalog, 'get' | 'list'>): string[] =>
  isWildcard(pattern)
    ? catalog
        .list()
        .map(({ descriptor }) => descriptor.tool_id)
        .filter((tool_id) => matchesWildcard(pattern, tool_id))
    : [catalog.get(pattern)?.descriptor.tool_id ?? pattern];

/** Prompts of capabilities come first, in the order of the capabilities; the agent's own prompt comes last. */
function mergePrompts({ system_prompt, config }: AgentSetup, capabilities: Capability[]): string {
  const parts = capabilities.map((capability) => fill(capability, config[capability.id] ?? {}));
  return [...parts, system_prompt].filter((part) => part.trim() !== '').join('\n\n');
}

function fill({ system_prompt_addition, config_schema }: Capability, config: JsonObject): string {
  return (system_prompt_addition ?? '').replaceAll(/\{\{\s*config\.(\w+)\s*\}\}/g, (_, name: string) =>
    show(Object.hasOwn(config, name) ? config[name] : defaultOf(config_schema, name)),
  );
}

function defaultOf(schema: JsonObject | null, name: string): Json | undefined {
  const properties = schema?.properties;
  const member = isObject(properties) ? properties[name] : undefined;
  return isObject(member) ? member.default : undefined;
}

const show = (value: Json | undefined): string =>
  value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);

/** The agent's configuration of the capabilities that bring this tool, for inputs of the same name. */
function defaultsFor(
  { descriptor }: { descriptor: OfferedTool['descriptor'] },
  capabilities: Capability[],
  config: Agent['config'],
): JsonObject {
  const { properties } = descriptor.input_schema;
  const values = capabilities
    .filter(({ tools }) => tools.includes(descriptor.tool_id))
    .flatMap(({ id }) => Object.entries(config[id] ?? {}));
  return Object.fromEntries(values.filter(([name]) => isObject(properties) && Object.hasOwn(properties, name)));
}
