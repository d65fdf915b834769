import { setTimeout as delay } from 'node:timers/promises';
import type { Invocation, InvocationEvent } from '@capstan/contracts';
import { CapstanError } from './capstan-error.js';
import { parseEventStream } from './event-stream/parse-event-stream.js';
import { toInvocationEvent } from './event-stream/to-invocation-event.js';
import { isTerminal } from './is-terminal.js';
import type { Transport } from './transport.js';
import { UnreachableError } from './unreachable-error.js';

export type EventsOptions = {
  last_event_id?: string | undefined;
  signal?: AbortSignal | undefined;
  /** How often in a row a broken stream is opened again without any event in between. */
  retries?: number | undefined;
  /** The pause before the first of them; it doubles up to 5 s. */
  retry_ms?: number | undefined;
};

const MAX_PAUSE_MS = 5_000;
/** A stream that held so long was a good one, even if nothing happened on it. */
const HEALTHY_MS = 30_000;

/**
 * The events of an invocation until it has ended. A broken stream is resumed after the last event seen, so that none is
 * missed and none comes twice. Only the very first connection is not tried again: a wrong address should show at once.
 */
export async function* followEvents(
  transport: Transport,
  invocation_id: string,
  { last_event_id = '', signal, retries = 8, retry_ms = 200 }: EventsOptions = {},
): AsyncGenerator<InvocationEvent> {
  const path = `/v1/invocations/${encodeURIComponent(invocation_id)}`;
  let lastId = last_event_id;
  let connected = false;
  let ended = false;
  for (let failures = 0; ; failures += 1) {
    let fault: unknown = null;
    const opened = performance.now();
    try {
      const body = await transport.stream(`${path}/events`, {
        headers: { accept: 'text/event-stream', ...(lastId === '' ? {} : { 'last-event-id': lastId }) },
        signal,
      });
      if (body === null) return;
      connected = true;
      for await (const message of parseEventStream(body)) {
        failures = 0;
        lastId = message.id;
        const event = toInvocationEvent(message);
        if (event === null) continue;
        if (event.event !== 'log') ended = event.event === 'result' || isTerminal(event.data.status);
        yield event;
      }
      if (ended) return;
      // It may have ended before what the caller has seen; then the next stream brings the rest, if there is any.
      ended = isTerminal((await transport.json<Invocation>('GET', path, { signal })).status);
    } catch (error) {
      fault = error;
    }
    signal?.throwIfAborted();
    if (performance.now() - opened > HEALTHY_MS) failures = 0;
    if (fault !== null && (!connected || !canResume(fault))) throw fault;
    if (failures >= retries)
      throw fault ?? new UnreachableError(transport.url, new Error('its event stream keeps ending'));
    await delay(Math.min(MAX_PAUSE_MS, retry_ms * 2 ** failures), undefined, signal === undefined ? {} : { signal });
  }
}

const canResume = (fault: unknown): boolean =>
  fault instanceof CapstanError ? fault.retryable || fault.status >= 500 : !(fault instanceof SyntaxError);
