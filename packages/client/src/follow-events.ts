import type { Invocation, InvocationEvent } from '@capstan/contracts';
import { toInvocationEvent } from './event-stream/to-invocation-event.js';
import { isTerminal } from './is-terminal.js';
import { type EventsOptions, resumeStream } from './resume-stream.js';
import type { Transport } from './transport.js';

export type { EventsOptions } from './resume-stream.js';

/** Yields the events of an invocation until it has ended. */
export const followEvents = (
  transport: Transport,
  invocation_id: string,
  options: EventsOptions = {},
): AsyncGenerator<InvocationEvent> => {
  const path = `/v1/invocations/${encodeURIComponent(invocation_id)}`;
  return resumeStream<InvocationEvent>(
    transport,
    {
      path,
      read: toInvocationEvent,
      endsWith: (event) => (event.event === 'log' ? null : event.event === 'result' || isTerminal(event.data.status)),
      isOver: async () =>
        isTerminal((await transport.json<Invocation>('GET', path, { signal: options.signal })).status),
    },
    options,
  );
};
