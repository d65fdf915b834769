import { setTimeout as delay } from 'node:timers/promises';
import { CapstanError } from './errors.js';
import { parseEventStream, type StreamMessage } from './event-stream/parse-event-stream.js';
import type { RequestOptions, Transport } from './transport.js';
import { UnreachableError } from './unreachable-error.js';

export type EventsOptions = {
  last_event_id?: string | undefined;
  signal?: AbortSignal | undefined;
  /** How often in a row a broken stream is reopened without receiving an event. */
  retries?: number | undefined;
  /** The pause before the first retry. It doubles up to 5 s. */
  retry_ms?: number | undefined;
};

type Source<Event> = {
  /** The path of the resource, whose events are under `/events`. */
  path: string;
  query?: RequestOptions['query'] | undefined;
  /** Returns null for a kind of event that this client does not know. */
  read(message: StreamMessage): Event | null;
  /** Whether it is the last event; null if the event does not tell. */
  endsWith(event: Event): boolean | null;
  /** Called when a stream ended without a last event. */
  isOver(): Promise<boolean>;
};

const MAX_PAUSE_MS = 5_000;
/** A stream that stayed open for this long was healthy, even without events. */
const HEALTHY_MS = 30_000;

/**
 * Yields all events. A broken stream is resumed after the last event, so that none is missed or repeated. The first connection is not
 * retried, so that a wrong address is reported at once.
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
      // If the stream ended early, the next one delivers the rest.
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
