import type { Invocation, Json, JsonObject } from '@capstan/contracts';
import { errorOfInvocation } from './errors.js';
import type { Invocations } from './invocation.js';
import { isTerminal } from './is-terminal.js';

/** Tools by their ids, as `capstan types` writes them. */
export type ToolTypes = { [tool_id: string]: { input: unknown; output: unknown } };
/** What is assumed of tools when nothing is known of them. */
export type UntypedTools = { [tool_id: string]: { input: JsonObject; output: Json } };

export type CallOptions = {
  /** The same key twice is the same call: it runs once. */
  idempotency_key?: string | undefined;
  session_id?: string | undefined;
  labels?: Record<string, string> | undefined;
  /** How long the tool may take. */
  timeout_ms?: number | undefined;
  /** How long to wait for the end, ten minutes by default. The call goes on when the time is up. */
  wait_s?: number | undefined;
  /** Whether to wait while the call is held for a person; otherwise it throws `Held`. */
  wait_while_held?: boolean | undefined;
  signal?: AbortSignal | undefined;
};

export type Call<Tools extends ToolTypes> = <Id extends keyof Tools & string>(
  tool_id: Id,
  inputs: Tools[Id]['input'],
  options?: CallOptions,
) => Promise<Tools[Id]['output']>;

const WAIT_S = 600;

/** The payload of a call, or a typed error: Denied, Held, Failed, TimedOut, Ambiguous, Canceled. */
export const call =
  (client: Pick<Invocations, 'submit'>) =>
  async (tool_id: string, inputs: unknown, options: CallOptions = {}): Promise<unknown> => {
    const { wait_s = WAIT_S, wait_while_held = false, signal, ...submission } = options;
    const until = (status: Invocation['status']) => isTerminal(status) || (status === 'held' && !wait_while_held);
    const invocation = await client.submit(
      { tool_id, inputs: inputs as JsonObject, ...defined(submission) },
      { wait_s, until, signal },
    );
    const error = errorOfInvocation(invocation);
    if (error) throw error;
    return invocation.result?.payload ?? null;
  };

const defined = <T extends object>(options: T) =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as {
    [Name in keyof T]: Exclude<T[Name], undefined>;
  };
