import { z } from 'zod';

/** One measurement. Latencies are there where each call was seen to end by its own caller. */
export const Sample = z.object({
  count: z.number(),
  elapsed_ms: z.number(),
  p50_ms: z.number().optional(),
  p99_ms: z.number().optional(),
  /** Invocations that ran meanwhile without being part of the load: those that had been waiting. */
  beside: z.number().optional(),
});
export type Sample = z.infer<typeof Sample>;

export function perSecond({ count, elapsed_ms }: Pick<Sample, 'count' | 'elapsed_ms'>): number {
  return (count / elapsed_ms) * 1000;
}
