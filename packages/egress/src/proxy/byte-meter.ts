import { Transform } from 'node:stream';

export type Meter = { through(): Transform; total(): number };

/** Counts the bytes of all its streams together. Beyond the limit, none of them passes anything on. */
export function createMeter(max_bytes: number, onExceeded: () => void): Meter {
  let total = 0;
  return {
    total: () => total,
    through: () =>
      new Transform({
        transform(chunk: Buffer, _encoding, done) {
          total += chunk.length;
          if (total <= max_bytes) return done(null, chunk);
          onExceeded();
          done(new Error(`more than ${max_bytes} bytes were received`));
        },
      }),
  };
}
