import type { Artifact, Effects, JsonObject, Risk, SideEffect, ToolDeclaration } from '@capstan/contracts';
import { type InputOf, type OutputOf, type StandardSchema, toJsonSchema } from './schema.js';

/** The context that a function gets in addition to its inputs. */
export type ToolContext = {
  invocation_id: string;
  attempt: number;
  tenant: string;
  actor: string;
  session_id: string | null;
  /** The same for every attempt of this invocation, and unique to it. Pass it to APIs that take such a key. */
  idempotency_key: string;
  deadline_at: Date;
  traceparent: string | null;
  /** Aborts when the call is canceled, its deadline passes, its worker stops, or the worker loses the call. */
  signal: AbortSignal;
  /** Writes a line of live output. Secrets are redacted before it is stored. */
  log(...what: unknown[]): void;
  /** Reports progress from 0 to 1. */
  progress(fraction: number, message?: string): void;
  /** Returns a secret of the caller's tenant, to be sent to these hosts (to any host, if none are given). */
  secret(name: string, options?: { hosts?: string[] }): Promise<string>;
  /** Stores a file with the result. */
  artifact(name: string, content: string | Uint8Array, media_type?: string): Promise<Artifact>;
};

type DeclaredEffects = Partial<Omit<Effects, 'filesystem'>> & { filesystem?: Partial<Effects['filesystem']> };

/** A tool: its description and its function. */
export type OwnTool<Input extends StandardSchema = StandardSchema, Output extends StandardSchema = StandardSchema> = {
  /** `refund` in the pool `billing` is called as `app:billing:refund`. */
  id: string;
  name?: string;
  description: string;
  input: Input;
  output?: Output;
  /** JSON Schema, if `input` and `output` cannot be converted to it. */
  input_schema?: JsonObject;
  output_schema?: JsonObject;
  risk?: Risk;
  side_effects?: SideEffect[];
  /** Effects that are not declared get the dangerous value: not idempotent, destructive, not reversible … */
  effects?: DeclaredEffects;
  timeout_ms?: number;
  run(input: OutputOf<Input>, context: ToolContext): InputOf<Output> | Promise<InputOf<Output>>;
};

/** A tool with any inputs and output. */
// biome-ignore lint/suspicious/noExplicitAny: a list of tools has functions of different inputs
export type AnyTool = OwnTool<any, any>;

/** Describes a tool, with its inputs and output typed by their schemas. */
export const tool = <Input extends StandardSchema, Output extends StandardSchema = StandardSchema>(
  definition: OwnTool<Input, Output>,
): OwnTool<Input, Output> => definition;

/** Returns the declaration of a tool for the gateway. */
export function declare(one: AnyTool): ToolDeclaration {
  const { id, name, description, risk, side_effects, effects, timeout_ms, input, output } = one;
  const output_schema = one.output_schema ?? (output && toJsonSchema(output, 'output', id));
  return {
    id,
    description,
    input_schema: one.input_schema ?? toJsonSchema(input, 'input', id),
    ...(output_schema ? { output_schema } : {}),
    ...(name === undefined ? {} : { name }),
    ...(risk === undefined ? {} : { risk }),
    ...(side_effects === undefined ? {} : { side_effects }),
    ...(effects === undefined ? {} : { effects }),
    ...(timeout_ms === undefined ? {} : { timeout_ms }),
  };
}
