import type { Delivery, RunnerType } from '@capstan/contracts';

/** What travels through Redis. */
export type Envelope = { ids: string[] };
export type PackedEnvelope = { envelope: Envelope; priority: number; delay: number; jobId?: string };

/**
 * A BullMQ job costs about 0.1 ms of Redis and 0.08 ms of worker. Where runs are shorter than that, what was committed
 * together travels as one job; where they are long, one job each, so that idle workers find work.
 */
const SHORT_RUNS: ReadonlySet<RunnerType> = new Set(['builtin', 'file']);
export const MAX_IDS = 100;

/** BullMQ takes 1 (first) to 2^21; ours go from -1,000,000 to 1,000,000, with 0 in the middle. */
const toBullPriority = (priority: number) => priority + 1_000_001;

export function packEnvelopes(deliveries: Delivery[]): Map<RunnerType, PackedEnvelope[]> {
  const packed = new Map<RunnerType, PackedEnvelope[]>();
  const open = new Map<string, PackedEnvelope>();
  for (const delivery of deliveries) {
    const { runner, invocation_id, attempt } = delivery;
    const priority = toBullPriority(delivery.priority);
    const delay = Math.ceil(delivery.delay_ms ?? 0);
    const envelopes = packed.get(runner) ?? [];
    packed.set(runner, envelopes);
    if (!SHORT_RUNS.has(runner)) {
      // While such a job is in Redis, BullMQ ignores another with its id. Job ids may not hold a colon.
      envelopes.push({
        envelope: { ids: [invocation_id] },
        priority,
        delay,
        jobId: `${invocation_id}.${attempt}${delivery.overdue ? '.overdue' : ''}`,
      });
      continue;
    }
    const kind = `${runner} ${priority} ${delay}`;
    const last = open.get(kind);
    if (last && last.envelope.ids.length < MAX_IDS) {
      last.envelope.ids.push(invocation_id);
    } else {
      const next = { envelope: { ids: [invocation_id] }, priority, delay };
      open.set(kind, next);
      envelopes.push(next);
    }
  }
  return packed;
}

/** The jobs BullMQ runs at once, and how many ids of each are claimed at a time, so that together they keep to `concurrency`. */
export function slotsFor(runner: RunnerType, concurrency: number): { jobs: number; ids: number } {
  if (!SHORT_RUNS.has(runner)) return { jobs: concurrency, ids: 1 };
  const jobs = Math.min(4, concurrency);
  return { jobs, ids: Math.max(1, Math.floor(concurrency / jobs)) };
}
