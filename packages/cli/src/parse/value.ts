import type { Json } from '@capstan/contracts';

const WHOLE_NUMBER = /^-?\d+$/;

/** `5` is a number, `"5"` and `five` are texts, and so is a whole number with more digits than JSON can keep exactly. */
export const readValue = (text: string): Json => {
  if (WHOLE_NUMBER.test(text) && !Number.isSafeInteger(Number(text))) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};
