import type { JsonObject } from '@capstan/contracts';
import {
  type AdapterClient,
  type AdapterOptions,
  type GovernedTool,
  governedTools,
  type HeldCall,
  heldCall,
  textOf,
} from './adapters/governed-tools.js';
import { Held } from './errors.js';

export type { AdapterClient, AdapterOptions, HeldCall } from './adapters/governed-tools.js';

/** A tool for `client.beta.messages.toolRunner` of `@anthropic-ai/sdk`. `messages.create` takes only its definition. */
export type AnthropicTool = {
  name: string;
  description: string;
  input_schema: { type: 'object'; properties?: unknown; required?: string[]; [name: string]: unknown };
  run(input: unknown, context?: { toolUse?: { id: string }; signal?: AbortSignal | null | undefined }): Promise<string>;
  parse(content: unknown): unknown;
};

const governed = new WeakMap<AnthropicTool, { tool: GovernedTool; interrupts: boolean }>();

/** Tools for the tool runner: `toolRunner({ tools: await tools(capstan, { match: 'ext:billing:*' }), … })`. */
export const tools = async (client: AdapterClient, options: AdapterOptions = {}): Promise<AnthropicTool[]> =>
  (await governedTools(client, options)).map((tool) => toTool(tool, options.held === 'interrupt'));

const toTool = (tool: GovernedTool, interrupts: boolean): AnthropicTool => {
  const made: AnthropicTool = {
    name: tool.name,
    description: tool.description,
    input_schema: { ...(tool.input_schema as JsonObject), type: 'object' },
    run: async (input, context) => textOf(await tool.call(context?.toolUse?.id, input, { signal: context?.signal })),
    parse: (content) => content,
  };
  governed.set(made, { tool, interrupts });
  return made;
};

/** The definitions of tools for `messages.create`, without the functions that run them. */
export const definitions = (runnable: readonly AnthropicTool[]) =>
  runnable.map(({ name, description, input_schema }) => ({ name, description, input_schema }));

export type ToolResult = { type: 'tool_result'; tool_use_id: string; content: string; is_error?: boolean };
type Block = { type: string; id?: string; name?: string; input?: unknown };

export type Answer = { held: HeldCall[]; message: { role: 'user'; content: ToolResult[] } | null };

/**
 * Runs the tool uses of a message, for your own loop. With `held: 'interrupt'`, the result lists the held calls and has no message:
 * store the conversation, and answer the same message again after the decision, in any process.
 */
export const answer = async (
  runnable: readonly AnthropicTool[],
  message: { content: readonly Block[] },
): Promise<Answer> => {
  const byName = new Map(runnable.map((each) => [each.name, governed.get(each)]));
  const uses = message.content.filter(({ type }) => type === 'tool_use');
  const outcomes = await Promise.all(
    uses.map(async ({ id = '', name = '', input }): Promise<ToolResult | HeldCall> => {
      const found = byName.get(name);
      const result = (content: string, is_error?: true): ToolResult => ({
        ...{ type: 'tool_result', tool_use_id: id, content },
        ...(is_error && { is_error }),
      });
      if (found === undefined) return result(`There is no tool named ${name}.`, true);
      try {
        return result(textOf(await found.tool.call(id, input, { unless_held: found.interrupts })));
      } catch (error) {
        if (found.interrupts && error instanceof Held) return heldCall(error, found.tool, input);
        return result(error instanceof Error ? error.message : String(error), true);
      }
    }),
  );
  const held = outcomes.flatMap((outcome) => ('hold_id' in outcome ? [outcome] : []));
  const content = outcomes.flatMap((outcome) => ('hold_id' in outcome ? [] : [outcome]));
  return { held, message: held.length > 0 || content.length === 0 ? null : { role: 'user', content } };
};
