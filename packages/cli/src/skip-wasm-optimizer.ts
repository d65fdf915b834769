import { setFlagsFromString } from 'node:v8';

/** The last Node.js version whose V8 is known to have the flag. Newer ones may reject it. */
const LAST_KNOWN_NODE = 26;

/**
 * undici's parser is WebAssembly. V8 starts to optimize it after the first response, and the process cannot exit before
 * that is done: 0.15 s of the 0.5 s that `capstan invoke` took. A command with a few requests is faster without.
 */
export const skipWasmOptimizer = (): void => {
  if (Number.parseInt(process.versions.node, 10) <= LAST_KNOWN_NODE) setFlagsFromString('--liftoff-only');
};
