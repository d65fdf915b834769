import { isQueueName, type QueueName } from '@capstan/contracts';
import type { Relay } from '../relay/relay.js';

/**
 * Whether committed calls may go straight to Redis. Not while calls of the runner type wait in Postgres: new ones would
 * overtake them, and Redis would grow with the backlog. The coordinator, which feeds Redis, decides.
 */
export type Flow = {
  isOpen(runner: QueueName): boolean;
  /** Closes the flow until the coordinator opens it again, because calls were left waiting. */
  shut(runner: QueueName): void;
  close(): void;
};

export const flowOf = (runner: QueueName, open: boolean): string => `${runner}/${open ? 'open' : 'shut'}`;

export function openFlow(relay: Relay): Flow {
  const shut = new Set<QueueName>();
  const unsubscribe = relay.subscribe('flow', (all) => {
    for (const said of all) {
      const at = said.lastIndexOf('/');
      const [runner, state] = [said.slice(0, at), said.slice(at + 1)];
      if (isQueueName(runner)) state === 'open' ? shut.delete(runner) : shut.add(runner);
    }
  });
  return { isOpen: (runner) => !shut.has(runner), shut: (runner) => shut.add(runner), close: unsubscribe };
}
