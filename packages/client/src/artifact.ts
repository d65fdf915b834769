import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { RequestOptions, Transport } from './transport.js';

export type Artifacts = {
  /** Reads the bytes of an artifact. The stream fails if they do not match the hash. */
  read(sha256: string, options?: Pick<RequestOptions, 'signal'>): Promise<Readable>;
};

export const artifacts = (transport: Transport): Artifacts => ({
  read: async (sha256, options = {}) => {
    const body = await transport.stream(`/v1/artifacts/${encodeURIComponent(sha256)}`, options);
    const checked = checkHash(sha256);
    if (body === null) return checked.end();
    // Errors surface on the stream that the caller reads.
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
      done(
        found === sha256 ? null : new Error(`the artifact ${sha256} was altered: its content has the hash ${found}`),
      );
    },
  });
};
