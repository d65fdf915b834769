import type { Readable } from 'node:stream';
import { broken } from './broken.js';

export type ReadLimits = { max_bytes: number; timeout_ms: number };

/** `cut` is the limit that ended the body early; null if it is complete. */
export type ReadBody = { bytes: Buffer; cut: 'size' | 'time' | null };

/** Reads to the end or a limit, and then releases the connection. The size limit applies to decompressed bytes. */
export async function readBody(body: Readable, { max_bytes, timeout_ms }: ReadLimits): Promise<ReadBody> {
  const chunks: Buffer[] = [];
  let size = 0;
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    body.destroy();
  }, timeout_ms);
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      if (size + chunk.length > max_bytes) {
        chunks.push(chunk.subarray(0, max_bytes - size));
        return { bytes: Buffer.concat(chunks), cut: 'size' };
      }
      chunks.push(chunk);
      size += chunk.length;
    }
  } catch (error) {
    if (!late) throw broken(error);
  } finally {
    clearTimeout(timer);
    body.on('error', () => {}).destroy();
  }
  return { bytes: Buffer.concat(chunks), cut: late ? 'time' : null };
}
