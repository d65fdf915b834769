import type { RunnerType } from './runner-type.js';

/** What a queue carries of an invocation: ids and routing, never inputs or results. */
export type Delivery = {
  invocation_id: string;
  runner: RunnerType;
  /** The attempts made so far; with the id it names this delivery, so that one handed over twice is delivered once. */
  attempt: number;
  priority: number;
  delay_ms?: number;
  /** Delivered once more because its delayed delivery did not come; not to be taken for that one. */
  overdue?: boolean;
};
