import type { FileHandle } from 'node:fs/promises';
import { StringDecoder } from 'node:string_decoder';
import type { Redactor } from '@capstan/redact';
import { guessEncoding, type TextEncoding } from './text-encoding.js';

const CHUNK_BYTES = 65_536;

/** Redacts the bytes of any kind of file. A file without secrets stays unchanged. */
export const redactedContent = async (file: FileHandle, redact: Redactor): Promise<AsyncIterable<Uint8Array>> =>
  redacted(file, redact, await encodingOf(file));

async function* chunks(file: FileHandle): AsyncGenerator<Uint8Array> {
  for (let position = 0; ; ) {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(CHUNK_BYTES), 0, CHUNK_BYTES, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

const encodingOf = async (file: FileHandle): Promise<TextEncoding> => {
  const guess = guessEncoding();
  for await (const chunk of chunks(file)) guess.push(chunk);
  return guess.end();
};

async function* redacted(file: FileHandle, redact: Redactor, encoding: TextEncoding): AsyncGenerator<Uint8Array> {
  const decoder = new StringDecoder(encoding);
  const stream = redact.stream();
  for await (const chunk of chunks(file)) {
    const text = stream.push(decoder.write(Buffer.from(chunk)));
    if (text !== '') yield Buffer.from(text, encoding);
  }
  const rest = stream.push(decoder.end()) + stream.end();
  if (rest !== '') yield Buffer.from(rest, encoding);
}
