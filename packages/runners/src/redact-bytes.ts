import type { Redactor } from '@capstan/redact';
import { guessEncoding } from './artifact/text-encoding.js';

/** The bytes with their secrets redacted, as in files that exec keeps. */
export const redactedBytes = (bytes: Uint8Array, redact: Redactor): Uint8Array => {
  const guess = guessEncoding();
  guess.push(bytes);
  const encoding = guess.end();
  return Buffer.from(redact.text(Buffer.from(bytes).toString(encoding)), encoding);
};
