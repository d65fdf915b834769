import { Worker } from 'bullmq';
import { getEachMessage, sendMessage } from 'execa';
import { monotonicMilliseconds } from './monotonic-clock.js';
import { type AllCompleted, type Expecting, RAW_QUEUE, WorkerOrder } from './raw-bullmq-messages.js';

// Own process: a BullMQ worker at concurrency 50 that does nothing, and says when the last job it was told to expect is completed.

let missing = 0;

const worker = new Worker(RAW_QUEUE, async () => undefined, {
  connection: { url: process.argv[2] ?? '' },
  concurrency: 50,
});
worker.on('error', (error) => {
  throw error;
});
worker.on('completed', () => {
  missing -= 1;
  if (missing === 0) void sendMessage({ last_completed_at: monotonicMilliseconds() } satisfies AllCompleted);
});
await worker.waitUntilReady();

for await (const message of getEachMessage()) {
  missing = WorkerOrder.parse(message).expect;
  await sendMessage({ expecting: missing } satisfies Expecting);
}
