import { assertSize } from './max-item.js';
import { splitArray } from './split-array.js';

/** One item to submit, with its place in the input. */
export type Entry = { index: number; place: string; bytes: number } & (
  | { kind: 'value'; value: unknown }
  | { kind: 'malformed'; reason: string }
);

/** Streams JSON lines or one JSON array, as the first character indicates. */
export async function* readSubmissions(chunks: AsyncIterable<string>): AsyncGenerator<Entry> {
  const { isArray, all } = await peek(chunks);
  let index = 0;
  let place = 0;
  for await (const text of isArray ? splitArray(all) : splitLines(all)) {
    place += 1;
    if (!isArray && text.trim() === '') continue;
    const base = { index, place: `${isArray ? 'item' : 'line'} ${place}`, bytes: Buffer.byteLength(text) };
    yield { ...base, ...parse(text) };
    index += 1;
  }
}

const parse = (text: string): { kind: 'value'; value: unknown } | { kind: 'malformed'; reason: string } => {
  try {
    return { kind: 'value', value: JSON.parse(text) };
  } catch (error) {
    return { kind: 'malformed', reason: error instanceof Error ? error.message : String(error) };
  }
};

/** Finds out whether the input is an array by its first non-blank character. Drops a byte order mark. */
const peek = async (chunks: AsyncIterable<string>): Promise<{ isArray: boolean; all: AsyncIterable<string> }> => {
  const iterator = chunks[Symbol.asyncIterator]();
  let head = '';
  let done = false;
  while (head.trim() === '' && !done) {
    const next = await iterator.next();
    done = next.done === true;
    if (!next.done) head += next.value;
    if (head.startsWith('\ufeff')) head = head.slice(1);
  }
  async function* all(): AsyncGenerator<string> {
    yield head;
    if (!done) yield* { [Symbol.asyncIterator]: () => iterator };
  }
  return { isArray: head.trimStart().startsWith('['), all: all() };
};

/** The lines of a text that arrives in chunks, without line endings. The last line may lack one. */
async function* splitLines(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of chunks) {
    const lines = chunk.split('\n');
    lines[0] = rest + lines[0];
    rest = lines.pop() ?? '';
    assertSize(rest);
    yield* lines;
  }
  yield rest;
}
