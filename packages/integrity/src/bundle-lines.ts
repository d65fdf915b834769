import { BundleError } from './bundle-format.js';

/** The longest line that is read. Results and inputs are limited, so no record is longer. */
const MAX_LINE = 134_217_728;

/** Splits the bytes of a bundle into lines. Only LF ends a line, because canonical JSON may contain U+2028 and U+2029 unescaped. */
export async function* bundleLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let rest = '';
  for await (const chunk of chunks) {
    const lines = decoder.decode(chunk, { stream: true }).split('\n');
    lines[0] = rest + lines[0];
    rest = lines.pop() ?? '';
    if (rest.length > MAX_LINE) throw new BundleError(`a line is longer than ${MAX_LINE} characters`);
    yield* lines;
  }
  yield rest + decoder.decode();
}
