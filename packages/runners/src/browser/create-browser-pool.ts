import type { LaunchedBrowser } from './launch/launch-browser.js';

export type BrowserLease = LaunchedBrowser & {
  /** `broken`: the browser must not be used again. */
  release(broken?: boolean): Promise<void>;
};

export type BrowserPool = { lease(): Promise<BrowserLease>; close(): Promise<void> };

export type BrowserPoolOptions = {
  launch(): Promise<LaunchedBrowser>;
  /** After this many jobs, or above this much memory, the browser is replaced. */
  max_jobs: number;
  max_memory_bytes: number;
  idle_ms: number;
};

/** A browser that takes new jobs, or a retired one whose last jobs are still running. */
type Warm = { starting: Promise<LaunchedBrowser>; jobs: number; users: number; retired: boolean };

export function createBrowserPool({ launch, max_jobs, max_memory_bytes, idle_ms }: BrowserPoolOptions): BrowserPool {
  const all = new Set<Warm>();
  let current: Warm | undefined;
  let idle: NodeJS.Timeout | undefined;

  const retire = (warm: Warm) => {
    warm.retired = true;
    if (current === warm) current = undefined;
  };
  const discard = async (warm: Warm) => {
    retire(warm);
    if (!all.delete(warm)) return;
    const launched = await warm.starting.catch(() => null);
    await launched?.close();
  };
  const start = (): Warm => {
    const warm: Warm = { starting: launch(), jobs: 0, users: 0, retired: false };
    all.add(warm);
    warm.starting.then(
      // A browser that disconnects by itself has crashed.
      ({ browser }) => browser.once('disconnected', () => discard(warm)),
      () => discard(warm),
    );
    return warm;
  };
  const finish = async (warm: Warm, launched: LaunchedBrowser, broken: boolean) => {
    warm.users--;
    const memory = warm.retired ? null : await launched.memory();
    if (broken || warm.jobs >= max_jobs || (memory ?? 0) > max_memory_bytes) retire(warm);
    // A broken browser is closed at once, with its other jobs, because they hang as well.
    if (broken || (warm.retired && warm.users === 0)) return discard(warm);
    if (warm.users > 0) return;
    clearTimeout(idle);
    idle = setTimeout(() => {
      if (warm.users === 0) void discard(warm);
    }, idle_ms).unref();
  };

  return {
    lease: async () => {
      clearTimeout(idle);
      current ??= start();
      const warm = current;
      warm.users++;
      warm.jobs++;
      if (warm.jobs >= max_jobs) retire(warm);
      try {
        const launched = await warm.starting;
        return { ...launched, release: (broken = false) => finish(warm, launched, broken) };
      } catch (error) {
        warm.users--;
        throw error;
      }
    },
    close: async () => {
      clearTimeout(idle);
      await Promise.all([...all].map(discard));
    },
  };
}
