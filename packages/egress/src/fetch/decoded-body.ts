import { type Duplex, pipeline, type Readable } from 'node:stream';
import { constants, createBrotliDecompress, createUnzip } from 'node:zlib';

/** Without deflate, because many servers send it without the required zlib header. */
export const ACCEPT_ENCODING = 'gzip, br';

/** More layers than this are found only in decompression bombs. */
const MAX_LAYERS = 2;

/** With these flush modes, a truncated body still gives everything before the cut. */
const decoders: Record<string, () => Duplex> = {
  gzip: () => createUnzip({ finishFlush: constants.Z_SYNC_FLUSH }),
  'x-gzip': () => createUnzip({ finishFlush: constants.Z_SYNC_FLUSH }),
  deflate: () => createUnzip({ finishFlush: constants.Z_SYNC_FLUSH }),
  br: () => createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH }),
};

/** Decompresses a body. A body with an unknown encoding is returned unchanged. */
export function decodedBody(body: Readable, encoding: string | undefined): Readable {
  const layers = (encoding ?? '')
    .split(',')
    .map((layer) => layer.trim().toLowerCase())
    .filter((layer) => layer !== '' && layer !== 'identity');
  const known = layers.flatMap((layer) => decoders[layer] ?? []);
  if (known.length === 0 || known.length !== layers.length || known.length > MAX_LAYERS) return body;
  const decoded = known.toReversed().reduce<Readable>((from, decoder) => {
    const to = decoder();
    // Errors surface on the last stream, and ending that one early closes the connection.
    pipeline(from, to, () => {});
    return to;
  }, body);
  return decoded;
}
