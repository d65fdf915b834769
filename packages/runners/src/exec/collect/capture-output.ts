import type { LogStream } from '@capstan/contracts';
import type { Call } from '../../runner.js';

/** One output stream of a process: decoded, redacted, then truncated. The live log is exactly what is kept. */
export type Capture = {
  write(chunk: Uint8Array): void;
  end(): { text: string; truncated: boolean };
};

/** A tool that writes more than this does nothing useful, and uses up the worker's time. */
export const FLOOD_BYTES = 256 * 1024 ** 2;

export const captureOutput = (
  stream: LogStream,
  { redact, log, limits }: Pick<Call, 'redact' | 'log' | 'limits'>,
  onFlood: () => void = () => {},
): Capture => {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const redacting = redact.stream();
  const pieces: string[] = [];
  let room = limits.max_output_bytes;
  let truncated = false;
  let total = 0;

  const keep = (text: string): void => {
    if (text === '') return;
    const size = Buffer.byteLength(text);
    truncated = size > room;
    const kept = truncated ? cutAt(text, room) : text;
    room -= Math.min(size, room);
    if (kept === '') return;
    pieces.push(kept);
    log(stream, kept);
  };

  return {
    write: (chunk) => {
      if (total <= FLOOD_BYTES && total + chunk.length > FLOOD_BYTES) onFlood();
      total += chunk.length;
      // Reading continues past the limit, so that the process does not block; the rest is discarded.
      if (!truncated) keep(redacting.push(decoder.decode(chunk, { stream: true })));
    },
    end: () => {
      if (!truncated) keep(redacting.push(decoder.decode()) + redacting.end());
      return { text: pieces.join(''), truncated };
    },
  };
};

/** At most `bytes` bytes of `text`, in whole characters: the decoder drops an incomplete sequence. */
const cutAt = (text: string, bytes: number): string =>
  new TextDecoder('utf-8', { ignoreBOM: true }).decode(Buffer.from(text).subarray(0, bytes), { stream: true });
