import { createTool, type Tool } from '@mastra/core/tools';
import {
  type AdapterClient,
  type AdapterOptions,
  type GovernedTool,
  governedTools,
  heldCall,
} from './adapters/governed-tools.js';
import { standardSchema } from './adapters/json-schema.js';
import { Held } from './errors.js';

export type { AdapterClient, AdapterOptions, HeldCall } from './adapters/governed-tools.js';

/**
 * Tools for an agent of Mastra: `new Agent({ tools: await tools(capstan, { match: 'ext:billing:*' }), … })`.
 * With `held: 'interrupt'`, a held call suspends the run with a `HeldCall`. Resume it with `agent.resumeGenerate({}, { runId, toolCallId })`
 * after the decision, in any process with the same storage.
 */
export const tools = async (client: AdapterClient, options: AdapterOptions = {}): Promise<Record<string, Tool>> =>
  Object.fromEntries(
    (await governedTools(client, options)).map((tool) => [tool.name, toTool(tool, options.held === 'interrupt')]),
  );

const toTool = (tool: GovernedTool, interrupts: boolean): Tool =>
  createTool({
    id: tool.name,
    description: tool.description,
    inputSchema: standardSchema(tool.input_schema),
    execute: async (input, context) => {
      const { toolCallId, suspend, resumeData } = context?.agent ?? {};
      const may_suspend = interrupts && suspend !== undefined && resumeData === undefined;
      try {
        return await tool.call(toolCallId, input, { signal: context?.abortSignal, unless_held: may_suspend });
      } catch (error) {
        if (!may_suspend || !(error instanceof Held)) throw error;
        return suspend(heldCall(error, tool, input));
      }
    },
  });
