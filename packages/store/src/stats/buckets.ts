/** Each bucket is 1.2 times as wide as the previous one, so percentiles are at most 10 % off, from a millisecond to a week. */
const GROWTH = 1.2;
const MAX_BUCKET = 120;

/** The SQL for the bucket of a time in milliseconds, a float8; null for null. */
export const bucketOf = (ms: string): string =>
  `CASE WHEN ${ms} IS NOT NULL THEN least(${MAX_BUCKET}, ceil(ln(greatest(${ms}, 1)) / ${Math.log(GROWTH)}))::smallint END`;

/** The middle of a bucket, in milliseconds. */
const middleOf = (bucket: number): number => {
  const upper = GROWTH ** bucket;
  return bucket === 0 ? 1 : Math.round((upper + upper / GROWTH) / 2);
};

/** Estimates a percentile (`part` from 0 to 1) from the counts of the buckets; null if nothing was measured. */
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
