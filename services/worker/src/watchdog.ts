import type { QueueName } from '@capstan/contracts';
import type { Consumer, Queue } from '@capstan/queue';

export type Watched = { runner: QueueName; consumer: Consumer; lastTake(): number };

/**
 * A consumer can hang after an outage: it reports that it is running but takes nothing. If work is waiting, there is room for it, and
 * nothing was taken for `wedge_ms`, the only reliable remedy is a new process.
 */
export function watchForWedge(
  queue: Queue,
  watched: Watched[],
  wedge_ms: number,
  onWedged: (runner: QueueName) => void,
): () => void {
  const look = async () => {
    for (const { runner, consumer, lastTake } of watched) {
      if (!consumer.hasRoom() || performance.now() - lastTake() < wedge_ms) continue;
      const { waiting } = await queue.counts(runner);
      if (waiting > 0) onWedged(runner);
    }
  };
  // An unreachable queue does not count as a hang.
  const timer = setInterval(() => void look().catch(() => {}), wedge_ms / 2);
  timer.unref();
  return () => clearInterval(timer);
}
