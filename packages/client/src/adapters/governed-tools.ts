import type { Invocation, Json, JsonObject, Tool } from '@capstan/contracts';
import type { Client } from '../create-client.js';
import { Denied, errorOfInvocation, Held } from '../errors.js';
import { isTerminal } from '../is-terminal.js';

export type AdapterOptions = {
  /** Ids with `*` for any part: `ext:billing:*`. Without it, every tool that can be called. */
  match?: string | readonly string[] | undefined;
  session_id?: string | undefined;
  labels?: Record<string, string> | undefined;
  /**
   * What becomes of a call that is held for a person: `wait` (the default) waits for the decision, `interrupt` ends the run in the
   * framework's own way, to go on after the decision.
   */
  held?: 'wait' | 'interrupt' | undefined;
  /** How long a call is waited for, holds included: ten minutes by default. The call itself goes on when the time is up. */
  wait_s?: number | undefined;
};

/** The parts of the client that adapters use. */
export type AdapterClient = Pick<Client, 'submit' | 'wait' | 'tools'>;

/** A tool as frameworks take it. The id of a call is its idempotency key: the same id, in whatever process, is the same call. */
export type GovernedTool = {
  tool_id: string;
  /** Letters, digits, dash and underscore, at most 64: what models take as a name. */
  name: string;
  description: string;
  input_schema: JsonObject;
  /** The payload of the call, or an error that says what to tell the model; `Held` where it is not decided in time. */
  call(call_id: string | undefined, inputs: unknown, options?: CallOptions): Promise<Json>;
  /** Submits it and answers as soon as it is known whether it is held. */
  begin(call_id: string | undefined, inputs: unknown): Promise<Invocation>;
  /** Waits for what a person decides. */
  decided(call_id: string, inputs: unknown): Promise<Decided>;
};

type CallOptions = {
  signal?: AbortSignal | null | undefined;
  /** Throws `Held` at once in place of waiting for the decision. */
  unless_held?: boolean | undefined;
};

export type Decided = { approved: true } | { approved: false; reason: string };

/** A held call as an interrupted run shows it. */
export type HeldCall = {
  invocation_id: string;
  hold_id: string | null;
  tool_id: string;
  inputs: unknown;
  reason: string;
};

const WAIT_S = 600;

export const governedTools = async (
  client: AdapterClient,
  { match, session_id, labels, wait_s = WAIT_S }: AdapterOptions = {},
): Promise<GovernedTool[]> => {
  const patterns = match === undefined ? [/^/] : [match].flat().map(toPattern);
  const tools: GovernedTool[] = [];
  for await (const tool of client.tools.list())
    if (patterns.some((pattern) => pattern.test(tool.tool_id)))
      tools.push(governed(client, tool, { ...(session_id && { session_id }), ...(labels && { labels }) }, wait_s));
  return named(tools);
};

const governed = (
  client: AdapterClient,
  { tool_id, description, input_schema }: Tool,
  shared: { session_id?: string; labels?: Record<string, string> },
  wait_s: number,
): GovernedTool => {
  const submit = (
    call_id: string | undefined,
    inputs: unknown,
    until: (status: Invocation['status']) => boolean,
    { signal, for_s }: { signal?: AbortSignal | null | undefined; for_s: number },
  ) =>
    client.submit(
      {
        tool_id,
        inputs: (inputs ?? {}) as JsonObject,
        ...(call_id !== undefined && { idempotency_key: call_id }),
        ...shared,
      },
      { wait_s: for_s, until, signal: signal ?? undefined },
    );
  const isDecided = (status: Invocation['status']) => status !== 'held';
  return {
    tool_id,
    name: nameOf(tool_id),
    description,
    input_schema,
    async call(call_id, inputs, { signal, unless_held = false } = {}) {
      const until = (status: Invocation['status']) => isTerminal(status) || (unless_held && status === 'held');
      const invocation = await submit(call_id, inputs, until, { signal, for_s: wait_s });
      const error = errorOfInvocation(invocation);
      if (error) throw error;
      return invocation.result?.payload ?? null;
    },
    begin: (call_id, inputs) => submit(call_id, inputs, () => true, { for_s: 0 }),
    async decided(call_id, inputs) {
      try {
        const invocation = await submit(call_id, inputs, isDecided, { for_s: wait_s });
        const error = errorOfInvocation(invocation);
        if (error instanceof Held) throw error;
        return error instanceof Denied || invocation.status === 'expired'
          ? { approved: false, reason: error?.detail ?? invocation.status }
          : { approved: true };
      } catch (error) {
        if (error instanceof Denied) return { approved: false, reason: error.detail };
        throw error;
      }
    },
  };
};

/** What a person has to decide, from the error of a call that waits for one. */
export const heldCall = (held: Held, tool: GovernedTool, inputs: unknown): HeldCall => ({
  invocation_id: held.invocation_id ?? '',
  hold_id: held.hold_id,
  tool_id: tool.tool_id,
  inputs,
  reason: held.detail,
});

/** Text as it is, everything else as JSON. */
export const textOf = (payload: Json): string => (typeof payload === 'string' ? payload : JSON.stringify(payload));

const toPattern = (match: string): RegExp => new RegExp(`^${match.split('*').map(literally).join('.*')}$`);
const literally = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

const MAX_NAME = 64;
const nameOf = (tool_id: string): string => tool_id.replace(/[^a-zA-Z0-9_-]/g, '_').slice(-MAX_NAME);

/** Two ids may differ only in what a name cannot hold: the later of them is numbered. */
const named = (tools: GovernedTool[]): GovernedTool[] => {
  const taken = new Set<string>();
  return tools.map((tool) => {
    let { name } = tool;
    for (let n = 2; taken.has(name); n++) name = `${tool.name.slice(0, MAX_NAME - 4)}_${n}`;
    taken.add(name);
    return { ...tool, name };
  });
};
