/** Truncates to at most `max_chars` characters, in whole groups of three bytes, so that the rest is still valid base64. */
export function cutBase64(bytes: Uint8Array, max_chars: number): { kept: string; truncated: boolean } {
  const fits = Math.floor(max_chars / 4) * 3;
  return { kept: Buffer.from(bytes.subarray(0, fits)).toString('base64'), truncated: bytes.length > fits };
}
