import type { Artifact, Effects, JsonObject, Risk, SideEffect, ToolDeclaration } from '@capstan/contracts';
import { type InputOf, type OutputOf, type StandardSchema, toJsonSchema } from './schema.js';

/** What a function is given beside its inputs. */
export type ToolContext = {
  invocation_id: string;
  attempt: number;
  tenant: string;
  actor: string;
  session_id: string | null;
  /** The same for every attempt of this invocation, and of no other: hand it to whatever API takes such a key. */
  idempotency_key: string;
  deadline_at: Date;
  traceparent: string | null;
  /** Aborts when the call is canceled, its deadline passes, its worker stops, or it is this worker's no more. */
  signal: AbortSignal;
  /** A line of live output; secrets are taken out before it is kept. */
  log(...what: unknown[]): void;
  /** How far it is, from 0 to 1, for whoever follows. */
  progress(fraction: number, message?: string): void;
  /** The value of a secret of the caller's tenant, to be sent to these hosts (anywhere, if none are named). */
  secret(name: string, options?: { hosts?: string[] }): Promise<string>;
  /** Keeps a file with the result. */
  artifact(name: string, content: string | Uint8Array, media_type?: string): Promise<Artifact>;
};

type DeclaredEffects = Partial<Omit<Effects, 'filesystem'>> & { filesystem?: Partial<Effects['filesystem']> };

/** A tool: what is known of it, and the function that does it. */
export type OwnTool<Input extends StandardSchema = StandardSchema, Output extends StandardSchema = StandardSchema> = {
  /** `refund` in the pool `billing` is called as `app:billing:refund`. */
  id: string;
  name?: string;
  description: string;
  input: Input;
  output?: Output;
  /** JSON Schema, where `input` and `output` cannot say themselves as such. */
  input_schema?: JsonObject;
  output_schema?: JsonObject;
  risk?: Risk;
  side_effects?: SideEffect[];
  /** What is not said has the dangerous value: not idempotent, destructive, not reversible … */
  effects?: DeclaredEffects;
  timeout_ms?: number;
  run(input: OutputOf<Input>, context: ToolContext): InputOf<Output> | Promise<InputOf<Output>>;
};

/** Any tool, whatever it takes and gives. */
// biome-ignore lint/suspicious/noExplicitAny: a list of tools has functions of different inputs
export type AnyTool = OwnTool<any, any>;

/** Describes a tool, with its inputs and output typed by their schemas. */
export const tool = <Input extends StandardSchema, Output extends StandardSchema = StandardSchema>(
  definition: OwnTool<Input, Output>,
): OwnTool<Input, Output> => definition;

/** The tool as the gateway is told of it. */
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
