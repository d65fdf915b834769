import type { Redactor } from '@capstan/redact';

/** As of the files that exec keeps: a text without its secrets; what is no UTF-8 is no text, and is left as it is. */
export const redactedBytes = (bytes: Uint8Array, redact: Redactor): Uint8Array => {
  const text = textIn(bytes);
  return text === null ? bytes : Buffer.from(redact.text(text));
};

const textIn = (bytes: Uint8Array): string | null => {
  if (bytes.includes(0)) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
};
