import type { Json } from '@capstan/contracts';

const WHOLE_NUMBER = /^-?\d+$/;

/** `5` is a number, `"5"` and `five` are strings, and so is an integer too large for JSON to represent exactly. */
export const readValue = (text: string): Json => {
  if (WHOLE_NUMBER.test(text) && !Number.isSafeInteger(Number(text))) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};
