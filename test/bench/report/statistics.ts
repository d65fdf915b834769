/** The value that `fraction` of the values do not exceed: nearest rank, so always one that was measured, never an interpolation. */
export function percentile(values: ArrayLike<number>, fraction: number): number {
  const sorted = Float64Array.from(values).sort();
  const value = sorted[Math.max(0, Math.ceil(fraction * sorted.length) - 1)];
  if (value === undefined) throw new RangeError('no percentile of no values');
  return value;
}

/** The middle value; of an even number of values, the mean of the middle two. */
export function median(values: ArrayLike<number>): number {
  const sorted = Float64Array.from(values).sort();
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.ceil(sorted.length / 2) - 1];
  if (upper === undefined || lower === undefined) throw new RangeError('no median of no values');
  return (lower + upper) / 2;
}
