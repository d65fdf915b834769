import { RUNNER_TYPES, type RunnerType } from '@capstan/contracts';
import type { Relay } from '../relay/relay.js';

/**
 * Whether what is committed may go straight to Redis. While calls of a runner type wait in Postgres, it may not: it would
 * overtake them, and Redis would grow with whatever waits. The coordinator, which feeds Redis, says so.
 */
export type Flow = {
  isOpen(runner: RunnerType): boolean;
  /** Closed from here on, until the coordinator says otherwise: something was left waiting. */
  shut(runner: RunnerType): void;
  close(): void;
};

export const flowOf = (runner: RunnerType, open: boolean): string => `${runner}/${open ? 'open' : 'shut'}`;

export function openFlow(relay: Relay): Flow {
  const shut = new Set<RunnerType>();
  const unsubscribe = relay.subscribe('flow', (all) => {
    for (const said of all) {
      const [name, state] = said.split('/');
      const runner = RUNNER_TYPES.find((known) => known === name);
      if (runner) state === 'open' ? shut.delete(runner) : shut.add(runner);
    }
  });
  return { isOpen: (runner) => !shut.has(runner), shut: (runner) => shut.add(runner), close: unsubscribe };
}
