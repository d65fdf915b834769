import type { FileEncoding } from '@capstan/contracts';

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

export type Decoded = { bytes: Uint8Array } | { problem: string };

/** What a tool was given to write, as bytes. Base64 is checked: Node would silently skip what is wrong in it. */
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

/** Bytes as a tool answers them: text where they are text and text is wanted, redacted before it is cut. */
export function toShown(
  bytes: Uint8Array,
  wanted: FileEncoding,
  max_bytes: number,
  redact: (text: string) => string,
): Shown {
  const text = wanted === 'text' ? toText(bytes) : null;
  if (text === null) {
    // Whole groups of three bytes, so that what is left is still base64.
    const fits = Math.floor(max_bytes / 4) * 3;
    const shown = Buffer.from(bytes.subarray(0, fits)).toString('base64');
    return { content: shown, encoding: 'base64', truncated: bytes.length > fits };
  }
  const clean = redact(text);
  const whole = Buffer.from(clean);
  if (whole.length <= max_bytes) return { content: clean, encoding: 'text', truncated: false };
  // Streaming leaves out the start of a character that was cut in two.
  return {
    content: new TextDecoder('utf-8', { ignoreBOM: true }).decode(whole.subarray(0, max_bytes), { stream: true }),
    encoding: 'text',
    truncated: true,
  };
}

export function toText(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}
