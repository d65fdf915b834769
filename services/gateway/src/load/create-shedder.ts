import { Failure } from '@capstan/contracts';
import type { ProcessStrain } from './process-strain.js';

export const SHED_REASONS = ['requests', 'commit_wait', 'event_loop', 'memory'] as const;
export type ShedReason = (typeof SHED_REASONS)[number];

export type Shedder = {
  /** Counts a request that submits work. Returns a function to call once it has been answered. Throws if the gateway is overloaded. */
  admit(): () => void;
};

export type ShedderOptions = {
  /** The maximum number of such requests in progress, including those that wait for a result. */
  max_requests: number;
  /** How far the event loop may be behind. */
  max_lag_ms?: number | undefined;
  /** How long the oldest submission has waited for its commit. */
  commitWait(): number;
  strain: Pick<ProcessStrain, 'wake' | 'lag_ms' | 'memory'>;
  onShed(reason: ShedReason): void;
};

const MAX_COMMIT_WAIT_MS = 2000;
const DEFAULT_MAX_LAG_MS = 1000;
const MAX_MEMORY = 0.85;
/** Spreads retries, so that requests that were refused together do not return together. */
const SPREAD_S = 3;

/**
 * Refuses work before its body is read, while that is cheap and the client can still go to another gateway. Accepted work is then answered in time.
 * Reads, cancellations and operator requests are never refused.
 */
export function createShedder(options: ShedderOptions): Shedder {
  const { max_requests, max_lag_ms = DEFAULT_MAX_LAG_MS, commitWait, strain, onShed } = options;
  let under_way = 0;
  const whyNot = (): [ShedReason, string] | null => {
    if (under_way >= max_requests) return ['requests', `${under_way} submissions are under way`];
    const waited_ms = Math.round(commitWait());
    if (waited_ms > MAX_COMMIT_WAIT_MS) return ['commit_wait', `submissions wait ${waited_ms} ms to be committed`];
    const lag_ms = Math.round(strain.lag_ms());
    if (lag_ms > max_lag_ms) return ['event_loop', `the gateway is ${lag_ms} ms behind`];
    if (strain.memory() > MAX_MEMORY) return ['memory', 'the gateway is short of memory'];
    return null;
  };
  return {
    admit: () => {
      strain.wake();
      const why = whyNot();
      if (why) {
        const [reason, detail] = why;
        onShed(reason);
        const retry_after = 1 + Math.floor(Math.random() * SPREAD_S);
        throw new Failure('OVERLOADED', {
          detail: `The gateway is overloaded: ${detail}.`,
          headers: { 'retry-after': String(retry_after) },
        });
      }
      under_way += 1;
      return () => {
        under_way -= 1;
      };
    },
  };
}
