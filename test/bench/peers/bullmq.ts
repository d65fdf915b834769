import { Queue, QueueEvents, Worker } from 'bullmq';
import { CONCURRENCY, type Peer } from './peer.js';

const NAME = 'raw-bullmq';
const REMOVED = { removeOnComplete: true, removeOnFail: true };

/** BullMQ on a Redis that keeps nothing. */
export const bullmq: Peer = {
  async openProducer(url) {
    const connection = { url };
    const queue = new Queue(NAME, { connection });
    await queue.waitUntilReady();
    return {
      add: (a) => queue.add('add', { a, b: 3 }, REMOVED),
      addMany: (jobs) => queue.addBulk(jobs.map((data) => ({ name: 'add', data, opts: REMOVED }))),
      async addAndWait(count) {
        // Open only here: a producer that reads every event besides adding costs raw BullMQ a quarter of its throughput.
        const events = new QueueEvents(NAME, { connection });
        await events.waitUntilReady();
        const latencies = new Float64Array(count);
        for (let a = 0; a < count; a++) {
          const added = performance.now();
          // The last few are kept: waitUntilFinished first asks for the job, and fails if it is finished and removed.
          const job = await queue.add('add', { a, b: 3 }, { removeOnComplete: 100, removeOnFail: 100 });
          await job.waitUntilFinished(events);
          latencies[a] = performance.now() - added;
        }
        await events.close();
        return latencies;
      },
    };
  },
  async work(url, { completed }) {
    const worker = new Worker(NAME, async () => undefined, { connection: { url }, concurrency: CONCURRENCY });
    worker.on('error', (error) => {
      throw error;
    });
    worker.on('completed', () => completed(1));
    await worker.waitUntilReady();
  },
};
