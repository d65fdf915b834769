import { Queue, QueueEvents } from 'bullmq';
import { getEachMessage, sendMessage } from 'execa';
import { monotonicMilliseconds } from './monotonic-clock.js';
import { type Added, ProducerOrder, RAW_QUEUE } from './raw-bullmq-messages.js';
import type { Sample } from './sample.js';
import { percentile } from './statistics.js';

// Own process: adds jobs to a BullMQ queue, one by one, as a caller that has nothing but BullMQ would.

const connection = { url: process.argv[2] ?? '' };
const queue = new Queue(RAW_QUEUE, { connection });
await queue.waitUntilReady();

for await (const message of getEachMessage()) {
  const order = ProducerOrder.parse(message);
  await sendMessage(order.kind === 'add' ? await addAll(order) : await addAndWaitForEach(order));
}

async function addAll({ count, in_flight }: ProducerOrder): Promise<Added> {
  let next = 0;
  const keepAdding = async () => {
    for (let i = next++; i < count; i = next++) {
      await queue.add('add', { a: i, b: 3 }, { removeOnComplete: true, removeOnFail: true });
    }
  };
  const first_add_at = monotonicMilliseconds();
  await Promise.all(Array.from({ length: in_flight }, keepAdding));
  return { first_add_at };
}

async function addAndWaitForEach({ count }: ProducerOrder): Promise<Sample> {
  // Open for this measurement only: a producer that reads every event besides adding costs raw BullMQ a quarter of its throughput.
  const events = new QueueEvents(RAW_QUEUE, { connection });
  await events.waitUntilReady();
  const latencies = new Float64Array(count);
  const started = performance.now();
  for (let i = 0; i < count; i++) {
    const added = performance.now();
    // The last few are kept: waitUntilFinished first asks for the job, and fails when it is finished and already removed.
    const job = await queue.add('add', { a: i, b: 3 }, { removeOnComplete: 100, removeOnFail: 100 });
    await job.waitUntilFinished(events);
    latencies[i] = performance.now() - added;
  }
  const elapsed_ms = performance.now() - started;
  await events.close();
  return { count, elapsed_ms, p50_ms: percentile(latencies, 0.5), p99_ms: percentile(latencies, 0.99) };
}
