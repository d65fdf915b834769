/** What `promise` comes to, or a rejection with the reason as soon as `signal` aborts; the work itself goes on. */
export async function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const stop = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { signal: stop.signal });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    stop.abort();
  }
}
