import { splitArray } from './split-array.js';
import { splitLines } from './split-lines.js';

/** One thing to submit, with the place it came from. */
export type Entry = { index: number; place: string; bytes: number } & (
  | { kind: 'value'; value: unknown }
  | { kind: 'malformed'; reason: string }
);

/** JSON lines, or one JSON array: whichever the first character says. Read as it comes, never all at once. */
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

/** Looks at the first character that says something and gives everything back, without a byte order mark. */
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
