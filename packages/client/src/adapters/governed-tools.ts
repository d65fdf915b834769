import type { Invocation, Json, JsonObject } from '@capstan/contracts';
import type { Client } from '../create-client.js';
import { Denied, errorOfInvocation, Held } from '../errors.js';
import type { CallableTool } from '../tool.js';

export type AdapterOptions = {
  /** Ids with `*` for any part: `ext:billing:*`. Without it, every tool that can be called. */
  match?: string | readonly string[] | undefined;
  session_id?: string | undefined;
  labels?: Record<string, string> | undefined;
  /**
   * How a held call is handled: `wait` (the default) waits for the decision, `interrupt` ends the run in the framework's own way, so
   * that it can be resumed after the decision.
   */
  held?: 'wait' | 'interrupt' | undefined;
  /** How long to wait for a call, including holds; ten minutes by default. The call itself continues after that. */
  wait_s?: number | undefined;
};

/** The parts of the client that adapters use. */
export type AdapterClient = Pick<Client, 'submit' | 'tools'>;

/** A tool for frameworks. The id of a call is its idempotency key: the same id is the same call, in any process. */
export type GovernedTool = {
  tool_id: string;
  /** A name that models accept: at most 64 letters, digits, dashes and underscores. */
  name: string;
  description: string;
  input_schema: JsonObject;
  /** Returns the payload of the call, or throws an error with a message for the model; `Held` if it is not decided in time. */
  call(call_id: string | undefined, inputs: unknown, options?: CallOptions): Promise<Json>;
  /** Submits the call and returns as soon as it is known whether it is held. */
  begin(call_id: string | undefined, inputs: unknown): Promise<Invocation>;
  /** Waits for the decision of a person. */
  decided(call_id: string, inputs: unknown): Promise<Decided>;
};

type CallOptions = {
  signal?: AbortSignal | null | undefined;
  /** Throws `Held` at once instead of waiting for the decision. */
  unless_held?: boolean | undefined;
};

export type Decided = { approved: true } | { approved: false; reason: string };

/** A held call, as shown by an interrupted run. */
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
  const shared = { ...(session_id && { session_id }), ...(labels && { labels }) };
  return (await client.tools({ match })).map((tool) => governed(client, tool, shared, wait_s));
};

const governed = (
  client: AdapterClient,
  tool: CallableTool,
  shared: { session_id?: string; labels?: Record<string, string> },
  wait_s: number,
): GovernedTool => {
  const { tool_id, name, description, input_schema } = tool;
  const submit = (
    call_id: string | undefined,
    inputs: unknown,
    until: (status: Invocation['status']) => boolean,
    for_s: number,
  ) =>
    client.submit(
      {
        tool_id,
        inputs: (inputs ?? {}) as JsonObject,
        ...(call_id !== undefined && { idempotency_key: call_id }),
        ...shared,
      },
      { wait_s: for_s, until },
    );
  return {
    tool_id,
    name,
    description,
    input_schema,
    call: (call_id, inputs, { signal, unless_held = false } = {}) =>
      tool.call(inputs ?? {}, {
        ...shared,
        idempotency_key: call_id,
        wait_s,
        wait_while_held: !unless_held,
        signal: signal ?? undefined,
      }),
    begin: (call_id, inputs) => submit(call_id, inputs, () => true, 0),
    async decided(call_id, inputs) {
      try {
        const invocation = await submit(call_id, inputs, (status) => status !== 'held', wait_s);
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

/** Builds the description of a held call from its error. */
export const heldCall = (held: Held, tool: GovernedTool, inputs: unknown): HeldCall => ({
  invocation_id: held.invocation_id ?? '',
  hold_id: held.hold_id,
  tool_id: tool.tool_id,
  inputs,
  reason: held.detail,
});

/** Returns text unchanged, and everything else as JSON. */
export const textOf = (payload: Json): string => (typeof payload === 'string' ? payload : JSON.stringify(payload));
