import type { Cleanup } from './cleanup.js';
import { LoadAnswer, type LoadOrder } from './load-messages.js';
import { startOwnProcess } from './own-process.js';
import type { Sample } from './sample.js';

export interface LoadGenerator {
  /** Sends `count` calls, `in_flight` at a time; throws when one is not answered as it must be. */
  send(order: LoadOrder): Promise<Sample>;
}

export async function startLoadGenerator(cleanup: Cleanup): Promise<LoadGenerator> {
  const load = await startOwnProcess('./load.js', { cleanup });
  return {
    async send(order) {
      const answer = await load.ask(order satisfies LoadOrder, LoadAnswer);
      if (answer.kind === 'wrong') {
        throw new Error(`${answer.wrong} of ${answer.answered} calls went wrong; the first: ${answer.first}`);
      }
      return answer.sample;
    },
  };
}
