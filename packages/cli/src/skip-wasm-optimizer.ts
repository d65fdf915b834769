import { setFlagsFromString } from 'node:v8';

/** The last Node.js whose V8 is known to have the flag; a newer one would complain of a flag it does not know. */
const LAST_KNOWN_NODE = 26;

/**
 * undici's parser is WebAssembly. V8 starts to optimise it after the first answer, and no process ends before that is
 * done: 0.15 s of the 0.5 that `capstan invoke` took. A command that lives for a few requests is better off without.
 */
export const skipWasmOptimizer = (): void => {
  if (Number.parseInt(process.versions.node, 10) <= LAST_KNOWN_NODE) setFlagsFromString('--liftoff-only');
};
