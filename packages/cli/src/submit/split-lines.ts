import { assertSize } from './max-item.js';

/** The lines of a text that comes in chunks, without their ends; the last one may lack its own. */
export async function* splitLines(chunks: AsyncIterable<string>): AsyncGenerator<string> {
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
