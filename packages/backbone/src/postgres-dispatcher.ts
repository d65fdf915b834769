import type { Relay } from '@capstan/queue';
import { openGiving } from './give-to-workers.js';
import { type Dispatcher, openWaker, type Plan, sayReady } from './hand-over.js';

/** Calls are handed to workers that offer room; the others wait in `work`, where workers claim them. */
export function postgresDispatcher(relay: Relay): Dispatcher {
  const workers = openGiving(relay);
  const waker = openWaker(relay);
  return {
    plan: (rows) => {
      const given = workers.give(rows);
      const ready = sayReady(
        relay,
        given.left.map(({ runner }) => runner),
      );
      return {
        hand_over: given.hand_over,
        signals: ready.signals,
        committed: (handed) => {
          ready.afterwards();
          relay.publish(
            'ready',
            given.committed(handed).map(({ runner }) => runner),
          );
        },
      } satisfies Plan;
    },
    ...waker,
    idle: () => Promise.resolve(),
    close: () => {
      waker.close();
      workers.close();
    },
  };
}
