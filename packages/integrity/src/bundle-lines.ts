import { BundleError } from './bundle-format.js';

/** The largest record that is read: a result is limited, and so are the inputs. */
const MAX_LINE = 134_217_728;

/** The lines of a bundle from its bytes. Only LF ends one: canonical JSON may hold every other end of a line as it is. */
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
