import { buildAgent, findByName } from '@capstan/catalog';
import { Failure, type JsonObject, type Principal } from '@capstan/contracts';
import { findAgent } from '../agent/find-agent.js';
import type { GatewayContext } from '../gateway-context.js';

/** The tool that a model called by name, with its agent's default inputs; or a problem, worded for the model. */
export type FoundTool = { tool_id: string; defaults: JsonObject } | { problem: string };
export type FindTool = (name: string) => FoundTool;

/** With an agent, only its own tool names are valid. Without one, any tool of the catalog can be called. */
export async function createFindTool(
  gateway: GatewayContext,
  principal: Principal,
  agent_id: string | undefined,
): Promise<FindTool> {
  if (agent_id === undefined) return findInCatalog(gateway);
  const agent = await findAgent(gateway, principal, agent_id);
  if (agent.status === 'disabled')
    throw new Failure('ILLEGAL_STATE', {
      detail: `${agent_id} is disabled.`,
      suggestion: 'PATCH its status to active.',
    });
  const { tools } = buildAgent(agent, gateway.capabilities, gateway.catalog);
  return (name) => {
    const tool = tools.find((one) => one.name === name) ?? tools.find(({ descriptor }) => descriptor.tool_id === name);
    if (tool) return { tool_id: tool.descriptor.tool_id, defaults: tool.defaults ?? {} };
    const names = tools.map((one) => one.name).join(', ') || 'none';
    return { problem: `There is no tool ${JSON.stringify(name)}. Yours are: ${names}.` };
  };
}

const findInCatalog =
  ({ catalog }: GatewayContext): FindTool =>
  (name) => {
    const known = catalog.get(name) ?? catalog.disabled(name);
    if (known) return { tool_id: known.descriptor.tool_id, defaults: {} };
    const found = findByName(
      catalog.list().map(({ descriptor }) => descriptor),
      name,
    );
    switch (found.kind) {
      case 'found':
        return { tool_id: found.tool_id, defaults: {} };
      case 'ambiguous':
        return {
          problem: `Several tools are named ${JSON.stringify(name)}: ${found.tool_ids.join(', ')}. Call one by its id.`,
        };
      case 'unknown':
        return { problem: `There is no tool ${JSON.stringify(name)}.${meant(catalog.similar(name))}` };
    }
  };

const meant = (similar: string[]) => (similar.length > 0 ? ` Did you mean ${similar.join(', ')}?` : '');
