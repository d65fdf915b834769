import type { Invocation, InvocationEvent } from '@capstan/contracts';
import type { StreamMessage } from './event-stream/parse-event-stream.js';
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

/** Returns null for a kind of event that this client does not know. Its data is not validated again; see `fromGateway`. */
const toInvocationEvent = ({ id, event, data }: StreamMessage): InvocationEvent | null =>
  event === 'status' || event === 'log' || event === 'result' ? { id, event, data: JSON.parse(data) } : null;
