/**
 * Milliseconds on the machine's monotonic clock. `performance.now()` counts from the start of its own process, so two processes
 * cannot compare it; this one starts when the machine does, and the first add of one process meets the last completion of another.
 */
export function monotonicMilliseconds(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
