import type { Binding, Json, JsonObject } from '@capstan/contracts';

export type CommandBinding = Extract<Binding, { kind: 'command' }>;
export type AtipBinding = Extract<Binding, { kind: 'atip' }>;

/** Why no safe command line can be built from the inputs. */
export type Refusal = { error: string; kind: 'INVALID_INPUTS' };

export type Arguments = { args: string[]; stdin?: string | undefined } | Refusal;

export const refused = (error: string): Refusal => ({ error, kind: 'INVALID_INPUTS' });

/** An input as the text of one argument. Null if there is none. */
export function toText(value: Json | undefined): string | null {
  if (value === undefined || value === null) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

export const looksLikeOption = (text: string): boolean => text.startsWith('-') && text !== '-';

/** A member of the inputs themselves. */
export const inputOf = (inputs: JsonObject, name: string): Json | undefined =>
  Object.hasOwn(inputs, name) ? inputs[name] : undefined;

/** Programs for which `--` does not end the options, or whose arguments are code. */
const WITHOUT_DOUBLE_DASH: ReadonlySet<string> = new Set([
  'find',
  'dd',
  'test',
  '[',
  'expr',
  'ffmpeg',
  'java',
  'gcc',
  'openssl',
  'ip',
]);

export const honoursDoubleDash = (executable: string): boolean => !WITHOUT_DOUBLE_DASH.has(executable);
