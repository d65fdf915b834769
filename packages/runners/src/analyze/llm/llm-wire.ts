import type { LlmSettings } from './llm-settings.js';

export type Prompt = { system: string; user: string };

/** The content of one message of a stream, or of a whole answer. */
export type Piece = {
  text?: string;
  input_tokens?: number;
  output_tokens?: number;
  stop_reason?: string;
  model?: string;
  /** The provider's error message, if it aborted the answer. */
  error?: string;
  /** True for the last piece. */
  done?: boolean;
};

/** The wire format of a provider. */
export type LlmWire = {
  request(settings: LlmSettings, prompt: Prompt): { url: string; headers: Record<string, string>; body: unknown };
  /** Parses a message of the stream. */
  event(message: unknown): Piece;
  /** Parses an answer that was not streamed. */
  whole(body: unknown): Piece;
};

/** Reads a member of an untrusted value. */
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

/** Omits undefined members. */
export const piece = (members: { [Key in keyof Piece]: Piece[Key] | undefined }): Piece =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
