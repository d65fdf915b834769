import type { Redactor } from '@capstan/redact';
import { guessEncoding } from './artifact/text-encoding.js';

/** As of the files that exec keeps: the bytes without the secrets in them. */
export const redactedBytes = (bytes: Uint8Array, redact: Redactor): Uint8Array => {
  const guess = guessEncoding();
  guess.push(bytes);
  const encoding = guess.end();
  return Buffer.from(redact.text(Buffer.from(bytes).toString(encoding)), encoding);
};
