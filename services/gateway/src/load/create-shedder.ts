import { Failure } from '@capstan/contracts';
import type { ProcessStrain } from './process-strain.js';

export type ShedReason = 'requests' | 'commit_wait' | 'event_loop' | 'memory';

export type Shedder = {
  /** Counts a request that brings work. Answers what to call when it has been answered; throws when there is too much already. */
  admit(): () => void;
};

export type ShedderOptions = {
  /** How many such requests may be under way, those included that wait for a result. */
  max_requests: number;
  /** How long the submission has waited that has waited longest to be committed. */
  commitWait(): number;
  strain: Pick<ProcessStrain, 'lag_ms' | 'memory'>;
  onShed(reason: ShedReason): void;
};

const MAX_COMMIT_WAIT_MS = 2000;
const MAX_LAG_MS = 1000;
const MAX_MEMORY = 0.85;
/** Those who were refused together do not come back together. */
const SPREAD_S = 3;

/**
 * Refuses work early, before its body is read, while refusing is cheap and whoever sent it can still go elsewhere. What was let in
 * is then answered in time. Reads, cancels and whatever operators do are never refused.
 */
export function createShedder({ max_requests, commitWait, strain, onShed }: ShedderOptions): Shedder {
  let under_way = 0;
  const whyNot = (): [ShedReason, string] | null => {
    if (under_way >= max_requests) return ['requests', `${under_way} submissions are under way`];
    const waited_ms = Math.round(commitWait());
    if (waited_ms > MAX_COMMIT_WAIT_MS) return ['commit_wait', `submissions wait ${waited_ms} ms to be committed`];
    const lag_ms = Math.round(strain.lag_ms());
    if (lag_ms > MAX_LAG_MS) return ['event_loop', `the gateway is ${lag_ms} ms behind`];
    if (strain.memory() > MAX_MEMORY) return ['memory', 'the gateway is short of memory'];
    return null;
  };
  return {
    admit: () => {
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
