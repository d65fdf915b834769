import type { Relay } from '@capstan/queue';
import { toRfc3339 } from '@capstan/store';
import { ENDED } from '@capstan/store/claim';
import type { InvocationOutcome } from '@capstan/store/invocation';
import { z } from 'zod';

/** Results, as the statements that write them send them to every gateway. */
export type Endings = {
  /** `isNeeded`: whether anything in this process waits for results. If not, messages are not even parsed. */
  subscribe(isNeeded: () => boolean, listener: (outcome: InvocationOutcome) => void): void;
};

export function receiveEndings(relay: Relay): Endings {
  const listeners: { isNeeded(): boolean; hear(outcome: InvocationOutcome): void }[] = [];
  relay.receive(ENDED, (contents) => {
    const needed = listeners.filter(({ isNeeded }) => isNeeded());
    if (needed.length === 0) return;
    for (const outcome of readEnded(contents)) for (const { hear } of needed) hear(outcome);
  });
  return { subscribe: (isNeeded, hear) => void listeners.push({ isNeeded, hear }) };
}

/** Written by Capstan's own workers. The schema only checks that the sender has a compatible version. */
const Outcomes = z.array(
  z.custom<Omit<InvocationOutcome, 'finished_at'>>(
    (value) => typeof value === 'object' && value !== null && 'invocation_id' in value && 'result' in value,
  ),
);

/** A message begins with the time of the end by Postgres' clock, followed by the outcomes. */
function readEnded(contents: string): InvocationOutcome[] {
  const blank = contents.indexOf(' ');
  const finished_at = toRfc3339(contents.slice(0, blank));
  return Outcomes.parse(JSON.parse(contents.slice(blank + 1))).map(({ invocation_id, status, attempt, result }) => ({
    invocation_id,
    status,
    attempt,
    finished_at,
    result,
  }));
}
