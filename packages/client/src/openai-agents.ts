import type { JsonObject } from '@capstan/contracts';
import { z } from 'zod';
import {
  type AdapterClient,
  type AdapterOptions,
  type GovernedTool,
  governedTools,
  textOf,
} from './adapters/governed-tools.js';

export type { AdapterClient, AdapterOptions } from './adapters/governed-tools.js';

/** A function tool of the OpenAI Agents SDK (`@openai/agents`). */
export type OpenAiAgentsTool = {
  type: 'function';
  name: string;
  description: string;
  parameters: {
    type: 'object';
    properties: Record<string, JsonObject>;
    required: string[];
    additionalProperties: boolean;
  };
  strict: false;
  invoke(context: unknown, input: string, details?: CallDetails): Promise<string>;
  needsApproval(context: unknown, input: unknown, call_id?: string): Promise<boolean>;
  isEnabled(): Promise<boolean>;
};

type CallDetails = { toolCall?: { callId?: string }; signal?: AbortSignal };

const governed = new WeakMap<OpenAiAgentsTool, GovernedTool>();

/**
 * Tools for an agent: `new Agent({ tools: await tools(capstan, { match: 'ext:billing:*' }) })`.
 * With `held: 'interrupt'`, a held call is an interruption of the run; `decide` answers it after the decision.
 */
export const tools = async (client: AdapterClient, options: AdapterOptions = {}): Promise<OpenAiAgentsTool[]> =>
  (await governedTools(client, options)).map((tool) => toTool(tool, options.held === 'interrupt'));

const toTool = (tool: GovernedTool, interrupts: boolean): OpenAiAgentsTool => {
  const { properties = {}, required = [] } = tool.input_schema;
  const made: OpenAiAgentsTool = {
    type: 'function',
    name: tool.name,
    description: tool.description,
    parameters: {
      ...tool.input_schema,
      type: 'object',
      properties: properties as Record<string, JsonObject>,
      required: required as string[],
      additionalProperties: tool.input_schema.additionalProperties !== false,
    },
    strict: false,
    invoke: (_context, input, { toolCall, signal } = {}) =>
      tool.call(toolCall?.callId, parse(input), { signal }).then(textOf, (error: Error) => `Error: ${error.message}`),
    needsApproval: (_context, input, call_id) =>
      interrupts && call_id !== undefined
        ? tool.begin(call_id, input).then(
            ({ status }) => status === 'held',
            // `invoke` submits a refused call again, and the model sees its error.
            () => false,
          )
        : Promise.resolve(false),
    isEnabled: () => Promise.resolve(true),
  };
  governed.set(made, tool);
  return made;
};

const parse = (input: string): unknown => (input.trim() === '' ? {} : JSON.parse(input));

const FunctionCall = z.object({ name: z.string(), callId: z.string(), arguments: z.string() });

type Interruption = { rawItem: unknown };
type State<Item extends Interruption> = {
  getInterruptions(): Item[];
  approve(item: Item): void;
  reject(item: Item, options?: { message?: string }): void;
};

/**
 * Approves or rejects each interruption of a run as decided in Capstan; `run(agent, state)` then resumes it. Waits for `wait_s` and
 * throws `Held` if a decision is still missing. Interruptions of other tools are not touched.
 */
export const decide = async <Item extends Interruption>(
  agentTools: readonly unknown[],
  state: State<Item>,
): Promise<void> => {
  const byName = new Map(
    agentTools.flatMap((each) => {
      const tool = governed.get(each as OpenAiAgentsTool);
      return tool ? [[tool.name, tool] as const] : [];
    }),
  );
  for (const item of state.getInterruptions()) {
    // Tools that run at the model's provider interrupt with items of other shapes.
    const { data: asked } = FunctionCall.safeParse(item.rawItem);
    const tool = asked && byName.get(asked.name);
    if (!asked || !tool) continue;
    const decided = await tool.decided(asked.callId, parse(asked.arguments));
    if (decided.approved) state.approve(item);
    else state.reject(item, { message: decided.reason });
  }
};
