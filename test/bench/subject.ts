import { z } from 'zod';
import type { Metered } from './meter.js';

/** Capstan on either queue, and what it is measured beside: BullMQ, which is not durable here, and two queues in Postgres, which are. */
export const PEERS = ['bullmq', 'graphile', 'pgboss'] as const;
export const CAPSTANS = ['redis', 'postgres'] as const;
export const SUBJECTS = [...PEERS, ...CAPSTANS] as const;
export type PeerName = (typeof PEERS)[number];
export type CapstanName = (typeof CAPSTANS)[number];
export type SubjectName = PeerName | CapstanName;

/** The loads that every round puts on every subject, in this order. */
export const SHAPES = ['lone', 'in_flight_50', 'in_flight_500', 'bulk'] as const;
export type Shape = (typeof SHAPES)[number];

/** One measurement. Latencies are there where each call was seen to end by its own caller. */
export const Sample = z.object({
  count: z.number(),
  elapsed_ms: z.number(),
  p50_ms: z.number().optional(),
  p99_ms: z.number().optional(),
  /** Calls that finished meanwhile without being part of the load: those that had been waiting. */
  beside: z.number().optional(),
});
export type Sample = z.infer<typeof Sample>;

export interface Subject {
  readonly name: SubjectName;
  readonly shapes: readonly Shape[];
  /** The processes whose CPU time counts towards a call. */
  processes(): readonly Metered[];
  /** Puts `count` calls through; throws if one of them does not end as it must. */
  measure(shape: Shape, count: number): Promise<Sample>;
}

export function perSecond({ count, elapsed_ms }: Pick<Sample, 'count' | 'elapsed_ms'>): number {
  return (count / elapsed_ms) * 1000;
}
