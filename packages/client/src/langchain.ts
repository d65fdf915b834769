import { DynamicStructuredTool } from '@langchain/core/tools';
import {
  type AdapterClient,
  type AdapterOptions,
  type GovernedTool,
  governedTools,
  heldCall,
  textOf,
} from './adapters/governed-tools.js';
import { Held } from './errors.js';

export type { AdapterClient, AdapterOptions, HeldCall } from './adapters/governed-tools.js';

/**
 * Tools for LangChain's models and agents and for LangGraph: `new ToolNode(await tools(capstan, { match: 'ext:billing:*' }))`.
 * With `held: 'interrupt'`, a held call is an `interrupt` of the graph with a `HeldCall` as its value. Resume it with
 * `new Command({ resume: … })` after the decision, in any process.
 */
export const tools = async (client: AdapterClient, options: AdapterOptions = {}): Promise<DynamicStructuredTool[]> =>
  (await governedTools(client, options)).map((tool) => toTool(tool, options.held === 'interrupt'));

const toTool = (tool: GovernedTool, interrupts: boolean): DynamicStructuredTool =>
  new DynamicStructuredTool({
    name: tool.name,
    description: tool.description,
    schema: tool.input_schema,
    func: async (input, _manager, config) => {
      const call_id = config?.toolCall?.id;
      const signal = config?.signal;
      try {
        return textOf(await tool.call(call_id, input, { signal, unless_held: interrupts }));
      } catch (error) {
        if (!interrupts || !(error instanceof Held)) throw error;
        const { interrupt } = await import('@langchain/langgraph');
        // Throws if the graph has to stop, and returns if it was resumed, which may be before the decision.
        interrupt(heldCall(error, tool, input));
        return textOf(await tool.call(call_id, input, { signal }));
      }
    },
  });
