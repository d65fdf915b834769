import type { Binding, Json, JsonObject } from '@capstan/contracts';

export type CommandBinding = Extract<Binding, { kind: 'command' }>;
export type AtipBinding = Extract<Binding, { kind: 'atip' }>;

/** Why the inputs make no command line that is safe to run. */
export type Refusal = { error: string; kind: 'INVALID_INPUTS' };

export type Arguments = { args: string[]; stdin?: string | undefined } | Refusal;

export const refused = (error: string): Refusal => ({ error, kind: 'INVALID_INPUTS' });

/** An input as the text of one argument; null when there is none. */
export function toText(value: Json | undefined): string | null {
  if (value === undefined || value === null) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

export const looksLikeOption = (text: string): boolean => text.startsWith('-') && text !== '-';

/** A member of the inputs themselves. */
export const inputOf = (inputs: JsonObject, name: string): Json | undefined =>
  Object.hasOwn(inputs, name) ? inputs[name] : undefined;
