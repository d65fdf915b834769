import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { RequestOptions, Transport } from './transport.js';

export type Artifacts = {
  /** The bytes of an artifact that a result names. The stream ends with an error when they are not those of the hash. */
  read(sha256: string, options?: Pick<RequestOptions, 'signal'>): Promise<Readable>;
};

export const artifacts = (transport: Transport): Artifacts => ({
  read: async (sha256, options = {}) => {
    const body = await transport.stream(`/v1/artifacts/${encodeURIComponent(sha256)}`, options);
    const checked = checkHash(sha256);
    if (body === null) return checked.end();
    // Whoever reads the end of it hears of an error on the way.
    pipeline(body, checked).catch(() => {});
    return checked;
  },
});

const checkHash = (sha256: string): Transform => {
  const hash = createHash('sha256');
  return new Transform({
    transform: (chunk: Uint8Array, _encoding, done) => {
      hash.update(chunk);
      done(null, chunk);
    },
    flush: (done) => {
      const found = hash.digest('hex');
      done(found === sha256 ? null : new Error(`the artifact ${sha256} arrived changed: its content has ${found}`));
    },
  });
};
