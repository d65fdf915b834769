import type { Sample } from './sample.js';

export const SUBJECTS = ['raw', 'redis', 'postgres'] as const;
export type SubjectName = (typeof SUBJECTS)[number];

/** The shapes of load that every round puts on every subject, in this order. */
export const SHAPES = ['lone', 'in_flight_50', 'in_flight_500', 'bulk'] as const;
export type Shape = (typeof SHAPES)[number];

/** Something under test: raw BullMQ, or Capstan on one of its queues. */
export interface Subject {
  readonly name: SubjectName;
  /** Puts `count` jobs through; throws when one of them does not end as it must. */
  measure(shape: Shape, count: number): Promise<Sample>;
}
