import type { LlmSettings } from './llm-settings.js';

export type Prompt = { system: string; user: string };

/** What one message of a stream, or a whole answer, adds. */
export type Piece = {
  text?: string;
  input_tokens?: number;
  output_tokens?: number;
  stop_reason?: string;
  model?: string;
  /** The provider broke off, in its own words. */
  error?: string;
  /** Nothing comes after this. */
  done?: boolean;
};

/** The format of one provider. */
export type LlmWire = {
  request(settings: LlmSettings, prompt: Prompt): { url: string; headers: Record<string, string>; body: unknown };
  /** A message of the stream, parsed. */
  event(message: unknown): Piece;
  /** An answer that was not streamed. */
  whole(body: unknown): Piece;
};

/** Members of what came over the wire, without believing anything about it. */
export const at = (value: unknown, ...path: (string | number)[]): unknown => {
  let current = value;
  for (const step of path) {
    if (typeof current !== 'object' || current === null) return undefined;
    current = Reflect.get(current, step);
  }
  return current;
};
export const textAt = (value: unknown, ...path: (string | number)[]): string | undefined => {
  const found = at(value, ...path);
  return typeof found === 'string' ? found : undefined;
};
export const countAt = (value: unknown, ...path: (string | number)[]): number | undefined => {
  const found = at(value, ...path);
  return typeof found === 'number' && Number.isFinite(found) && found >= 0 ? found : undefined;
};

/** Leaves out what is undefined. */
export const piece = (members: { [Key in keyof Piece]: Piece[Key] | undefined }): Piece =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
