import type { Redactor } from '@capstan/redact';
import { guessEncoding } from './artifact/text-encoding.js';

/** As of the files that exec keeps: a text without its secrets; what is no text is left as it is. */
export const redactedBytes = (bytes: Uint8Array, redact: Redactor): Uint8Array => {
  const guess = guessEncoding();
  guess.push(bytes);
  const encoding = guess.end();
  return encoding === null ? bytes : Buffer.from(redact.text(Buffer.from(bytes).toString(encoding)), encoding);
};
