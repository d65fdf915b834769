/** Truncates to at most `max_bytes` bytes of UTF-8 without splitting a character. */
export function cutText(text: string, max_bytes: number): { kept: string; truncated: boolean } {
  if (Buffer.byteLength(text) <= max_bytes) return { kept: text, truncated: false };
  const kept = new TextDecoder('utf-8', { ignoreBOM: true }).decode(Buffer.from(text).subarray(0, max_bytes), {
    stream: true,
  });
  return { kept, truncated: true };
}
