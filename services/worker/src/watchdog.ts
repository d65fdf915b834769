import type { QueueName } from '@capstan/contracts';
import type { Consumer, Queue } from '@capstan/queue';

export type Watched = { runner: QueueName; consumer: Consumer; lastTake: number };

/**
 * A consumer can wedge after an outage: it reports that it runs and takes nothing. When work waits, there is room for it and
 * nothing was taken for `wedge_ms`, the only sure cure is a new process.
 */
export function watchForWedge(
  queue: Queue,
  watched: Watched[],
  wedge_ms: number,
  onWedged: (runner: QueueName) => void,
): () => void {
  const look = async () => {
    for (const { runner, consumer, lastTake } of watched) {
      if (!consumer.hasRoom() || performance.now() - lastTake < wedge_ms) continue;
      const { waiting } = await queue.counts(runner);
      if (waiting > 0) onWedged(runner);
    }
  };
  // A queue that cannot be reached is not a wedge.
  const timer = setInterval(() => void look().catch(() => {}), wedge_ms / 2);
  timer.unref();
  return () => clearInterval(timer);
}
