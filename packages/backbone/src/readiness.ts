import type { Queue } from '@capstan/queue';
import type { Store } from '@capstan/store';
import { pingStore } from '@capstan/store/queue';
import { z } from 'zod';

const PING_MS = 2000;

const Check = z.object({ ok: z.boolean(), error: z.string().optional() });
type Check = z.infer<typeof Check>;

export const Readiness = z.object({
  ready: z.boolean(),
  /** It was told to stop, and finishes the work that it has accepted. */
  stopping: z.literal(true).optional(),
  postgres: Check,
  queue: Check.extend({ kind: z.enum(['postgres', 'redis']) }),
});
export type Readiness = z.infer<typeof Readiness>;

/** The dependencies of a service, and whether it is stopping. */
export type Backing = {
  store: Store;
  queue: Queue;
  /** False for a gateway: it accepts calls without Redis, so a load balancer must not take all of them away. */
  needs_queue: boolean;
  isStopping(): boolean;
};

export async function readiness({ store, queue, needs_queue, isStopping }: Backing): Promise<Readiness> {
  const [postgres, delivery] = await Promise.all([check(() => pingStore(store)), check(() => queue.ping())]);
  const stopping = isStopping();
  return {
    ready: postgres.ok && (delivery.ok || !needs_queue) && !stopping,
    ...(stopping ? { stopping } : {}),
    postgres,
    queue: { kind: queue.kind, ...delivery },
  };
}

async function check(ping: () => Promise<void>): Promise<Check> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no response within ${PING_MS} ms`)), PING_MS);
  });
  try {
    await Promise.race([ping(), late]);
    return { ok: true };
  } catch (error) {
    return { ok: false, error: error instanceof Error ? error.message : String(error) };
  } finally {
    clearTimeout(timer);
  }
}
