import { watch } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Editors write a file in several operations. */
const SETTLE_MS = 100;

/** Resolves when one of the files has changed, or when `signal` aborts. */
export const nextChange = (files: readonly string[], signal: AbortSignal): Promise<void> =>
  new Promise((done) => {
    const wanted = new Set(files);
    const ending = new AbortController();
    const stop = AbortSignal.any([signal, ending.signal]);
    let timer: NodeJS.Timeout | undefined;
    const end = (): void => {
      clearTimeout(timer);
      ending.abort();
      done();
    };
    // Watches the folder, because many editors replace a file instead of writing to it.
    for (const folder of new Set(files.map((file) => dirname(file))))
      watch(folder, { signal: stop }, (_event, name) => {
        if (name === null || wanted.has(resolve(folder, name))) timer ??= setTimeout(end, SETTLE_MS);
      }).on('error', end);
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
  });
