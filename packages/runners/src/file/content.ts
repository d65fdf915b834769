import type { FileEncoding } from '@capstan/contracts';
import type { Redactor } from '@capstan/redact';
import { cutBase64 } from '../cut-base64.js';
import { cutText } from '../cut-text.js';
import { redactedBytes } from '../redact-bytes.js';

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

export type Decoded = { bytes: Uint8Array } | { problem: string };

/** Converts the content to write into bytes. Base64 is validated, because Node silently skips invalid characters. */
export function toBytes(content: unknown, encoding: unknown): Decoded {
  if (typeof content !== 'string') return { problem: 'content must be text' };
  if (encoding === 'text')
    return content.isWellFormed()
      ? { bytes: Buffer.from(content) }
      : { problem: 'content holds half of a surrogate pair' };
  if (encoding !== 'base64') return { problem: 'encoding must be text or base64' };
  const packed = content.replaceAll(/\s/g, '');
  if (!BASE64.test(packed) || packed.replace(/=+$/, '').length % 4 === 1) return { problem: 'content is not base64' };
  return { bytes: Buffer.from(packed, 'base64') };
}

export type Shown = { content: string; encoding: FileEncoding; truncated: boolean };

/** Formats bytes for a result: as text if they are text and text is wanted. Redacted before they are encoded or truncated. */
export function toShown(bytes: Uint8Array, wanted: FileEncoding, max_bytes: number, redact: Redactor): Shown {
  const text = wanted === 'text' ? toText(bytes) : null;
  const encoding = text === null ? 'base64' : 'text';
  const { kept, truncated } =
    text === null ? cutBase64(redactedBytes(bytes, redact), max_bytes) : cutText(redact.text(text), max_bytes);
  return { content: kept, encoding, truncated };
}

function toText(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}
