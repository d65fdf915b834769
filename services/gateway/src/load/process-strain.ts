import { getHeapStatistics } from 'node:v8';

/** How hard this process has it, as of the last look. */
export type ProcessStrain = {
  /** How late the event loop is, smoothed. */
  lag_ms(): number;
  /** What part of the memory that it may use is in use: of the heap, or of the container, whichever is fuller. */
  memory(): number;
  close(): void;
};

const LOOK_MS = 250;
/** One long pause is no overload. */
const SMOOTHING = 0.25;

export function watchStrain(): ProcessStrain {
  let lag_ms = 0;
  let memory = 0;
  let expected = performance.now() + LOOK_MS;
  const timer = setInterval(() => {
    const now = performance.now();
    lag_ms += (Math.max(0, now - expected) - lag_ms) * SMOOTHING;
    expected = now + LOOK_MS;
    memory = Math.max(heapUse(), containerUse());
  }, LOOK_MS).unref();
  return { lag_ms: () => lag_ms, memory: () => memory, close: () => clearInterval(timer) };
}

function heapUse(): number {
  const { used_heap_size, heap_size_limit } = getHeapStatistics();
  return used_heap_size / heap_size_limit;
}

/** Without a limit it is 0, or more than any machine has. */
function containerUse(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? process.memoryUsage.rss() / limit : 0;
}
