import { type Duplex, pipeline, type Readable } from 'node:stream';
import { constants, createBrotliDecompress, createUnzip } from 'node:zlib';

/** Not deflate: half of those who send it leave out the header that it should have. */
export const ACCEPT_ENCODING = 'gzip, br';

/** Nobody compresses more often than this, except to make something explode. */
const MAX_LAYERS = 2;

/** A sender that breaks off inside the last block still has said all that came before. */
const decoders: Record<string, () => Duplex> = {
  gzip: () => createUnzip({ finishFlush: constants.Z_SYNC_FLUSH }),
  'x-gzip': () => createUnzip({ finishFlush: constants.Z_SYNC_FLUSH }),
  deflate: () => createUnzip({ finishFlush: constants.Z_SYNC_FLUSH }),
  br: () => createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH }),
};

/** The body uncompressed; as it is when it is packed in a way that was not asked for. */
export function decodedBody(body: Readable, encoding: string | undefined): Readable {
  const layers = (encoding ?? '')
    .split(',')
    .map((layer) => layer.trim().toLowerCase())
    .filter((layer) => layer !== '' && layer !== 'identity');
  const known = layers.flatMap((layer) => decoders[layer] ?? []);
  if (known.length === 0 || known.length !== layers.length || known.length > MAX_LAYERS) return body;
  const decoded = known.toReversed().reduce<Readable>((from, decoder) => {
    const to = decoder();
    // Errors come out of the last stream; ending it early closes the connection.
    pipeline(from, to, () => {});
    return to;
  }, body);
  return decoded;
}
