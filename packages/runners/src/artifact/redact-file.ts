import type { FileHandle } from 'node:fs/promises';
import type { Redactor } from '@capstan/redact';

const CHUNK_BYTES = 65_536;

/** Its bytes; of a text, with the secrets taken out. What is no UTF-8 is no text, and is left as it is. */
export const redactedContent = async (file: FileHandle, redact: Redactor): Promise<AsyncIterable<Uint8Array>> =>
  (await isText(file)) ? redacted(file, redact) : chunks(file);

async function* chunks(file: FileHandle): AsyncGenerator<Uint8Array> {
  for (let position = 0; ; ) {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(CHUNK_BYTES), 0, CHUNK_BYTES, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

const isText = async (file: FileHandle): Promise<boolean> => {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    for await (const chunk of chunks(file)) {
      if (chunk.includes(0)) return false;
      decoder.decode(chunk, { stream: true });
    }
    decoder.decode();
    return true;
  } catch {
    return false;
  }
};

async function* redacted(file: FileHandle, redact: Redactor): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const stream = redact.stream();
  for await (const chunk of chunks(file)) {
    const text = stream.push(decoder.decode(chunk, { stream: true }));
    if (text !== '') yield Buffer.from(text);
  }
  const rest = stream.push(decoder.decode()) + stream.end();
  if (rest !== '') yield Buffer.from(rest);
}
