import { getEachMessage, sendMessage } from 'execa';
import { type AllCompleted, monotonicMilliseconds, WorkerOrder } from './peer.js';
import { peerNamed } from './peers.js';

// Own process: works on jobs, and says when the last one that it was told to expect is done.

const [, , name, url = ''] = process.argv;
let missing = 0;

await peerNamed(name).work(url, {
  busy: () => missing > 0,
  completed(jobs) {
    missing -= jobs;
    if (missing === 0) void sendMessage({ last_completed_at: monotonicMilliseconds() } satisfies AllCompleted);
  },
});

for await (const message of getEachMessage()) {
  const order = WorkerOrder.parse(message);
  missing = order.expect;
  await sendMessage(order);
}
