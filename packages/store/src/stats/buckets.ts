/** Each bucket is a fifth wider than the one before: a percentile is off by 10 % at most, from a millisecond to a week. */
const GROWTH = 1.2;
export const MAX_BUCKET = 120;

/** The SQL for the bucket of a time in milliseconds. */
export const bucketOf = (ms: string): string =>
  `least(${MAX_BUCKET}, greatest(0, ceil(ln(greatest(${ms}, 1)) / ln(${GROWTH}))))::smallint`;

/** The middle of a bucket, in milliseconds. */
export const middleOf = (bucket: number): number => {
  const upper = GROWTH ** bucket;
  return bucket === 0 ? 1 : Math.round((upper + upper / GROWTH) / 2);
};

/** The time that so large a part of all took at most; null where nothing was measured. */
export function percentile(buckets: Readonly<Record<string, number>>, part: number): number | null {
  const sorted = Object.entries(buckets)
    .map(([bucket, count]) => ({ bucket: Number(bucket), count }))
    .sort((a, b) => a.bucket - b.bucket);
  const total = sorted.reduce((sum, { count }) => sum + count, 0);
  if (total === 0) return null;
  let seen = 0;
  for (const { bucket, count } of sorted) {
    seen += count;
    if (seen >= part * total) return middleOf(bucket);
  }
  return middleOf(MAX_BUCKET);
}
