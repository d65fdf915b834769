/** A semaphore: runs a limited number at a time. The others wait for their turn, or until they are aborted. */
export type Turns = <T>(signal: AbortSignal, run: () => Promise<T>) => Promise<T>;

export const createTurns = (max: number): Turns => {
  const waiting = new Set<() => void>();
  let taken = 0;
  const wait = (signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      const stop = () => {
        waiting.delete(go);
        reject(signal.reason);
      };
      const go = () => {
        signal.removeEventListener('abort', stop);
        resolve();
      };
      waiting.add(go);
      signal.addEventListener('abort', stop, { once: true });
    });
  const passOn = () => {
    const [next] = waiting;
    if (!next) taken -= 1;
    else {
      waiting.delete(next);
      next();
    }
  };
  return async (signal, run) => {
    signal.throwIfAborted();
    if (taken < max) taken += 1;
    else await wait(signal);
    try {
      return await run();
    } finally {
      passOn();
    }
  };
};
