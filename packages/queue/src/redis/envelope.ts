import type { Delivery, RunnerType } from '@capstan/contracts';

/** What travels through Redis: that so many invocations wait. Which ones, and in which order, Postgres says. */
export type Envelope = { size: number };
export type PackedEnvelope = { envelope: Envelope; delay: number; jobId?: string };

/**
 * A BullMQ job costs about 0.1 ms of Redis and 0.08 ms of worker. Where runs are shorter than that, what was committed
 * together travels as one job; where they are long, one job each, so that idle workers find work.
 */
const SHORT_RUNS: ReadonlySet<RunnerType> = new Set(['builtin', 'file']);
export const MAX_SIZE = 100;

export function packEnvelopes(deliveries: Delivery[]): Map<RunnerType, PackedEnvelope[]> {
  const packed = new Map<RunnerType, PackedEnvelope[]>();
  const open = new Map<string, PackedEnvelope>();
  for (const { runner, invocation_id, attempt, delay_ms = 0, overdue } of deliveries) {
    const delay = Math.ceil(delay_ms);
    const envelopes = packed.get(runner) ?? [];
    packed.set(runner, envelopes);
    if (!SHORT_RUNS.has(runner)) {
      // While such a job is in Redis, BullMQ ignores another with its id. Job ids may not hold a colon.
      envelopes.push({
        envelope: { size: 1 },
        delay,
        jobId: `${invocation_id}.${attempt}${overdue ? '.overdue' : ''}`,
      });
      continue;
    }
    const kind = `${runner} ${delay}`;
    const last = open.get(kind);
    if (last && last.envelope.size < MAX_SIZE) {
      last.envelope.size++;
    } else {
      const next = { envelope: { size: 1 }, delay };
      open.set(kind, next);
      envelopes.push(next);
    }
  }
  return packed;
}

/** The jobs BullMQ runs at once. A few envelopes fill a worker, and one of them alone may. */
export const jobsAtOnce = (runner: RunnerType, concurrency: number): number =>
  SHORT_RUNS.has(runner) ? Math.min(4, concurrency) : concurrency;
