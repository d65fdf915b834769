import { UsageError } from '../usage-error.js';
import { assertSize } from './max-item.js';

/**
 * Yields the text of each element of a JSON array that arrives in chunks, so that a file of any size needs the memory of one
 * element. It only finds where elements end; JSON.parse validates them.
 */
export async function* splitArray(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let depth = 0;
  let inString = false;
  let escaped = false;
  let element = '';
  let elements = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const char = chunk[at];
      if (inString) {
        if (escaped) escaped = false;
        else if (char === '\\') escaped = true;
        else if (char === '"') inString = false;
        continue;
      }
      if (char === '"') inString = true;
      else if (char === '[' || char === '{') {
        depth += 1;
        if (depth === 1) start = at + 1;
      } else if (depth === 1 && (char === ',' || char === ']')) {
        element += chunk.slice(start, at);
        start = at + 1;
        const last = char === ']';
        if (last) depth = 0;
        // Only an empty array has nothing before its end.
        if (!last || elements > 0 || element.trim() !== '') yield element;
        elements += 1;
        element = '';
      } else if (char === ']' || char === '}') depth -= 1;
    }
    if (depth > 0) element += chunk.slice(start);
    assertSize(element);
  }
  if (depth > 0)
    throw new UsageError(`the array is cut off inside item ${elements + 1}`, 'Check that the file is complete.');
}
