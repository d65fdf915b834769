import type { Cleanup } from './cleanup.js';
import { startOwnProcess } from './own-process.js';
import { Added, AllCompleted, Expecting, type ProducerOrder, type WorkerOrder } from './raw-bullmq-messages.js';
import { Sample } from './sample.js';
import type { Subject } from './subject.js';

/**
 * What Capstan is measured against: BullMQ on a Redis with nothing durable, a producer and a worker in processes of their own, no HTTP,
 * no Postgres, a processor that does nothing. Jobs are added one by one, 50 in flight, whatever shape Capstan's load has.
 */
export async function startRawBullmq({
  redis_url,
  cleanup,
}: {
  redis_url: string;
  cleanup: Cleanup;
}): Promise<Subject> {
  const worker = await startOwnProcess('./raw-bullmq-worker.js', { args: [redis_url], cleanup });
  const producer = await startOwnProcess('./raw-bullmq-producer.js', { args: [redis_url], cleanup });

  async function measureLone(count: number): Promise<Sample> {
    await worker.ask({ expect: 0 } satisfies WorkerOrder, Expecting);
    return await producer.ask({ kind: 'add_and_wait', count, in_flight: 1 } satisfies ProducerOrder, Sample);
  }

  async function measureThroughput(count: number): Promise<Sample> {
    await worker.ask({ expect: count } satisfies WorkerOrder, Expecting);
    const completed = worker.next(AllCompleted);
    const [{ first_add_at }, { last_completed_at }] = await Promise.all([
      producer.ask({ kind: 'add', count, in_flight: 50 } satisfies ProducerOrder, Added),
      completed,
    ]);
    return { count, elapsed_ms: last_completed_at - first_add_at };
  }

  return {
    name: 'raw',
    measure: (shape, count) => (shape === 'lone' ? measureLone(count) : measureThroughput(count)),
  };
}
