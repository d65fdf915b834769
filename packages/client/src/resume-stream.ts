import { setTimeout as delay } from 'node:timers/promises';
import { CapstanError } from './errors.js';
import { parseEventStream, type StreamMessage } from './event-stream/parse-event-stream.js';
import type { RequestOptions, Transport } from './transport.js';
import { UnreachableError } from './unreachable-error.js';

export type EventsOptions = {
  last_event_id?: string | undefined;
  signal?: AbortSignal | undefined;
  /** How often in a row a broken stream is opened again without any event in between. */
  retries?: number | undefined;
  /** The pause before the first of them; it doubles up to 5 s. */
  retry_ms?: number | undefined;
};

type Source<Event> = {
  /** What is followed; its events are under `/events`. */
  path: string;
  query?: RequestOptions['query'] | undefined;
  /** Null for a kind of event that this client does not know. */
  read(message: StreamMessage): Event | null;
  /** Whether nothing comes after it; null when the event does not say. */
  endsWith(event: Event): boolean | null;
  /** Asked when a stream ended without saying so. */
  isOver(): Promise<boolean>;
};

const MAX_PAUSE_MS = 5_000;
/** A stream that held so long was a good one, even if nothing happened on it. */
const HEALTHY_MS = 30_000;

/**
 * Events until there are no more. A broken stream is resumed after the last event seen, so that none is missed and none
 * comes twice. Only the very first connection is not tried again: a wrong address should show at once.
 */
export async function* resumeStream<Event>(
  transport: Transport,
  source: Source<Event>,
  { last_event_id = '', signal, retries = 8, retry_ms = 200 }: EventsOptions = {},
): AsyncGenerator<Event> {
  let lastId = last_event_id;
  let connected = false;
  let ended = false;
  for (let failures = 0; ; failures += 1) {
    let fault: unknown = null;
    const opened = performance.now();
    try {
      const body = await transport.stream(`${source.path}/events`, {
        ...(source.query ? { query: source.query } : {}),
        headers: { accept: 'text/event-stream', ...(lastId === '' ? {} : { 'last-event-id': lastId }) },
        signal,
      });
      if (body === null) return;
      connected = true;
      for await (const message of parseEventStream(body)) {
        failures = 0;
        lastId = message.id;
        const event = source.read(message);
        if (event === null) continue;
        ended = source.endsWith(event) ?? ended;
        yield event;
      }
      if (ended) return;
      // It may have ended before what the caller has seen; then the next stream brings the rest, if there is any.
      ended = await source.isOver();
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
