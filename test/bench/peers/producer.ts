import { getEachMessage, sendMessage } from 'execa';
import { percentile } from '../report/statistics.js';
import type { Sample } from '../subject.js';
import { type Added, CONCURRENCY, monotonicMilliseconds, ProducerOrder, type Ready } from './peer.js';
import { peerNamed } from './peers.js';

// Own process: adds jobs as a caller that has nothing but this library would.

const [, , name, url = ''] = process.argv;
const producer = await peerNamed(name).openProducer(url);
await sendMessage({ ready: true } satisfies Ready);
const BULK = 1_000;

for await (const message of getEachMessage()) await sendMessage(await carryOut(ProducerOrder.parse(message)));

async function carryOut({ kind, count }: ProducerOrder): Promise<Added | Sample> {
  if (kind === 'lone') return addAndWait(count);
  const first_add_at = monotonicMilliseconds();
  await (kind === 'bulk' ? addInBulk(count) : addOneByOne(count));
  return { first_add_at };
}

async function addOneByOne(count: number): Promise<void> {
  let next = 0;
  const keepAdding = async () => {
    for (let a = next++; a < count; a = next++) await producer.add(a);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, keepAdding));
}

async function addInBulk(count: number): Promise<void> {
  for (let from = 0; from < count; from += BULK) {
    const length = Math.min(BULK, count - from);
    await producer.addMany(Array.from({ length }, (_, index) => ({ a: from + index, b: 3 })));
  }
}

async function addAndWait(count: number): Promise<Sample> {
  const started = performance.now();
  const latencies = await producer.addAndWait?.(count);
  if (latencies === undefined) throw new Error(`${name} does not tell its producer when a job is done`);
  const elapsed_ms = performance.now() - started;
  return { count, elapsed_ms, p50_ms: percentile(latencies, 0.5), p99_ms: percentile(latencies, 0.99) };
}
