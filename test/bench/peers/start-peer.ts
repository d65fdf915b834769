import type { Metered } from '../meter.js';
import { startOwnProcess } from '../own-process.js';
import { type PeerName, Sample, type Shape, type Subject } from '../subject.js';
import { Added, AllCompleted, type ProducerOrder, Ready, WorkerOrder } from './peer.js';

/** A producer and a worker in processes of their own, without HTTP, policy or results. */
export async function startPeer(name: PeerName, url: string, server: Metered): Promise<Subject> {
  // The producer makes the tables that the worker reads. If both made them at once, one would fail.
  const producer = await startOwnProcess('./peers/producer.js', [name, url]);
  await producer.next(Ready);
  const worker = await startOwnProcess('./peers/worker.js', [name, url]);

  async function measureThroughput(kind: ProducerOrder['kind'], count: number): Promise<Sample> {
    await worker.ask({ expect: count } satisfies WorkerOrder, WorkerOrder);
    const [{ last_completed_at }, { first_add_at }] = await Promise.all([
      worker.next(AllCompleted),
      producer.ask({ kind, count } satisfies ProducerOrder, Added),
    ]);
    return { count, elapsed_ms: last_completed_at - first_add_at };
  }

  // BullMQ is what all ratios are to: it adds one by one, 50 in flight, whatever shape Capstan's load has.
  const shapes: Shape[] =
    name === 'bullmq' ? ['lone', 'in_flight_50', 'in_flight_500', 'bulk'] : ['in_flight_50', 'bulk'];
  return {
    name,
    shapes,
    processes: () => [{ name: 'producer', pid: producer.pid }, { name: 'worker', pid: worker.pid }, server],
    measure(shape, count) {
      if (shape === 'lone') return producer.ask({ kind: 'lone', count } satisfies ProducerOrder, Sample);
      return measureThroughput(shape === 'bulk' && name !== 'bullmq' ? 'bulk' : 'one_by_one', count);
    },
  };
}
