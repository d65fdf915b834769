import type { Queue } from '@capstan/queue';
import { pingStore, type Store } from '@capstan/store';
import { z } from 'zod';

const PING_MS = 2000;

const Check = z.object({ ok: z.boolean(), error: z.string().optional() });
type Check = z.infer<typeof Check>;

export const Readiness = z.object({
  ready: z.boolean(),
  /** It was told to stop. What it has taken is still done. */
  stopping: z.literal(true).optional(),
  postgres: Check,
  queue: Check.extend({ kind: z.enum(['postgres', 'redis']) }),
});
export type Readiness = z.infer<typeof Readiness>;

/** What a service needs to do its work, and whether it is about to end. */
export type Backing = { store: Store; queue: Queue; isStopping(): boolean };

/** A gateway without its queue still takes work, which is delivered later, but it is not ready to have it done. */
export async function readiness({ store, queue, isStopping }: Backing): Promise<Readiness> {
  const [postgres, delivery] = await Promise.all([check(() => pingStore(store)), check(() => queue.ping())]);
  const stopping = isStopping();
  return {
    ready: postgres.ok && delivery.ok && !stopping,
    ...(stopping ? { stopping } : {}),
    postgres,
    queue: { kind: queue.kind, ...delivery },
  };
}

async function check(ping: () => Promise<void>): Promise<Check> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${PING_MS} ms`)), PING_MS);
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
