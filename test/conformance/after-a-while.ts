import type { Backbone } from '@capstan/backbone';
import { listAttempts } from '@capstan/store/invocation';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Waits for several round trips to both servers, which is long enough for anything that was about to happen. */
export async function afterAWhile({ store, queue }: Backbone): Promise<void> {
  for (let round = 0; round < 10; round += 1) {
    await Promise.all([queue.ping(), queue.counts('exec'), listAttempts(store.db, 'inv_none')]);
    await turn();
  }
}
