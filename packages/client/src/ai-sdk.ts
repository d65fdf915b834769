import type { Json } from '@capstan/contracts';
import {
  type AdapterClient,
  type AdapterOptions,
  type GovernedTool,
  governedTools,
} from './adapters/governed-tools.js';
import { type StandardJsonSchema, standardSchema } from './adapters/json-schema.js';

export type { AdapterClient, AdapterOptions } from './adapters/governed-tools.js';

/** A tool of the AI SDK (`ai` 6 or newer). */
export type AiSdkTool = {
  description: string;
  inputSchema: StandardJsonSchema;
  execute(input: Record<string, unknown>, options: { toolCallId: string; abortSignal?: AbortSignal }): Promise<Json>;
  needsApproval?(input: Record<string, unknown>, options: { toolCallId: string }): Promise<boolean>;
};

const governed = new WeakMap<AiSdkTool, GovernedTool>();

/**
 * Tools for `generateText`, `streamText` and agents: `tools: await tools(capstan, { match: 'ext:billing:*' })`.
 * With `held: 'interrupt'`, a held call ends the run with a `tool-approval-request`; `approvals` answers it after the decision.
 */
export const tools = async (
  client: AdapterClient,
  options: AdapterOptions = {},
): Promise<Record<string, AiSdkTool>> => {
  const taken = await governedTools(client, options);
  return Object.fromEntries(taken.map((tool) => [tool.name, toTool(tool, options.held === 'interrupt')]));
};

const toTool = (tool: GovernedTool, interrupts: boolean): AiSdkTool => {
  const made: AiSdkTool = {
    description: tool.description,
    inputSchema: standardSchema(tool.input_schema),
    execute: (input, { toolCallId, abortSignal }) => tool.call(toolCallId, input, { signal: abortSignal }),
  };
  if (interrupts)
    made.needsApproval = (input, { toolCallId }) =>
      tool.begin(toolCallId, input).then(
        // The SDK asks again when it resumes, and accepts an approval only for a call that still needs one.
        ({ status, hold_id }) => status === 'held' || hold_id !== null,
        // `execute` submits a refused call again, and the model sees its error.
        () => false,
      );
  governed.set(made, tool);
  return made;
};

type Part = {
  type: string;
  approvalId?: string;
  toolCallId?: string;
  toolName?: string;
  input?: unknown;
};
type Message = { role: string; content: string | readonly unknown[] };

export type ApprovalMessage = {
  role: 'tool';
  content: { type: 'tool-approval-response'; approvalId: string; approved: boolean; reason?: string }[];
};

/**
 * Returns the message that resumes an interrupted run once all its held calls are decided: append it, and generate again with the
 * same tools. Waits for `wait_s` and throws `Held` if a decision is still missing. Returns null if no call is held.
 */
export const approvals = async (
  toolSet: Record<string, AiSdkTool>,
  messages: readonly Message[],
): Promise<ApprovalMessage | null> => {
  const parts = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : (content as readonly Part[])));
  const answered = new Set(
    parts.flatMap(({ type, approvalId }) => (type === 'tool-approval-response' ? [approvalId] : [])),
  );
  const open = parts.filter(({ type, approvalId }) => type === 'tool-approval-request' && !answered.has(approvalId));
  if (open.length === 0) return null;
  const content = await Promise.all(
    open.map(async ({ approvalId = '', toolCallId = '' }) => {
      const call = parts.find((part) => part.type === 'tool-call' && part.toolCallId === toolCallId);
      const made = toolSet[call?.toolName ?? ''];
      const tool = made && governed.get(made);
      if (tool === undefined) throw new Error(`there is no Capstan tool named ${call?.toolName ?? toolCallId}`);
      const decided = await tool.decided(toolCallId, call?.input);
      return { type: 'tool-approval-response' as const, approvalId, ...decided };
    }),
  );
  return { role: 'tool', content };
};
