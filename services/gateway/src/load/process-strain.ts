import { getHeapStatistics } from 'node:v8';

/** The load of this process, as of the last sample. */
export type ProcessStrain = {
  /** Called when work arrives. Samples are taken for a while after that; an idle process takes none. */
  wake(): void;
  /** The delay of the event loop, smoothed. */
  lag_ms(): number;
  /** Memory use as a fraction of the limit, of the heap or of the container, whichever is higher. */
  memory(): number;
  close(): void;
};

const LOOK_MS = 250;
/** The number of samples after the last work. */
const LOOKS = 40;
/** Smoothed, because a single long pause is not an overload. */
const SMOOTHING = 0.25;

export function watchStrain(): ProcessStrain {
  let lag_ms = 0;
  let memory = 0;
  let expected = 0;
  let looks = 0;
  let timer: NodeJS.Timeout | undefined;
  const look = () => {
    const now = performance.now();
    lag_ms += (Math.max(0, now - expected) - lag_ms) * SMOOTHING;
    expected = now + LOOK_MS;
    memory = Math.max(heapUse(), containerUse());
    looks -= 1;
    if (looks <= 0) rest();
  };
  const rest = () => {
    clearInterval(timer);
    timer = undefined;
    lag_ms = 0;
  };
  return {
    wake: () => {
      looks = LOOKS;
      if (timer) return;
      expected = performance.now() + LOOK_MS;
      memory = Math.max(heapUse(), containerUse());
      timer = setInterval(look, LOOK_MS).unref();
    },
    lag_ms: () => lag_ms,
    memory: () => memory,
    close: rest,
  };
}

function heapUse(): number {
  const { used_heap_size, heap_size_limit } = getHeapStatistics();
  return used_heap_size / heap_size_limit;
}

/** Without a limit, the value is 0 or larger than the memory of any machine. */
function containerUse(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? process.memoryUsage.rss() / limit : 0;
}
