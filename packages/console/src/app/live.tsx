import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useEffect, useMemo, useRef, useState } from 'react';
import { meQuery } from '../api/me.js';

export type LiveType = 'invocation' | 'run' | 'hold' | 'queue' | 'worker' | 'policy' | 'tool';
/** A change without an id means that too much changed at once for single events. */
export type LiveEvent = { type: LiveType; id: string | null; status: string | null; at: string };
/** `behind`: the stream is interrupted, and the page may be outdated until it is back. */
export type LiveState = 'connecting' | 'live' | 'behind';

type Listener = (events: readonly LiveEvent[]) => void;
type Live = { state: LiveState; subscribe(listener: Listener): () => void };

const TYPES: LiveType[] = ['invocation', 'run', 'hold', 'queue', 'worker', 'policy', 'tool'];
/** Changes in quick succession are handled together, and while they keep coming at most once a second. */
const GATHER_MS = 250;
const BUSY_MS = 1000;
/** EventSource gives up after an HTTP error, so it is reopened after this time. */
const RETRY_MS = 2000;

/** The cached queries that a change invalidates: the first element of their keys, and the id for single objects. */
const TOUCHES: Record<LiveType, { lists: string[]; one: string[] }> = {
  invocation: { lists: ['stats'], one: ['invocation'] },
  run: { lists: ['runs'], one: ['run'] },
  hold: { lists: ['holds', 'hold-count'], one: ['hold'] },
  queue: { lists: ['queues'], one: [] },
  worker: { lists: ['workers'], one: [] },
  policy: { lists: ['policy'], one: [] },
  tool: { lists: ['tools', 'sources'], one: ['tool'] },
};

const LiveContext = createContext<Live>({ state: 'connecting', subscribe: () => () => {} });

export function LiveProvider({ children }: { children: ReactNode }) {
  const queries = useQueryClient();
  const [state, setState] = useState<LiveState>('connecting');
  const listeners = useRef(new Set<Listener>());

  useEffect(() => {
    let source: EventSource;
    let retry: ReturnType<typeof setTimeout> | undefined;
    let gathering: ReturnType<typeof setTimeout> | undefined;
    let lost = false;
    let gathered: LiveEvent[] = [];
    let flushed_at = 0;

    const flush = () => {
      gathering = undefined;
      flushed_at = Date.now();
      const events = gathered;
      gathered = [];
      refresh(queries, events);
      for (const listener of listeners.current) listener(events);
    };
    const hear = (message: MessageEvent<string>) => {
      gathered.push(JSON.parse(message.data));
      gathering ??= setTimeout(flush, Math.max(GATHER_MS, flushed_at + BUSY_MS - Date.now()));
    };
    const open = () => {
      setState('live');
      // More may have been missed than the stream can replay.
      if (lost) void queries.invalidateQueries();
      lost = false;
    };
    const fail = () => {
      lost = true;
      setState('behind');
      if (source.readyState !== EventSource.CLOSED) return;
      // The browser does not say why it was refused. If the login has ended, this request leads to the login page.
      void queries.invalidateQueries({ queryKey: meQuery.queryKey });
      retry = setTimeout(connect, RETRY_MS);
    };
    const connect = () => {
      source = new EventSource('/v1/events');
      source.addEventListener('open', open);
      source.addEventListener('error', fail);
      for (const type of ['message', ...TYPES]) source.addEventListener(type, hear);
    };
    connect();
    return () => {
      clearTimeout(retry);
      clearTimeout(gathering);
      source.close();
    };
  }, [queries]);

  const live = useMemo<Live>(
    () => ({
      state,
      subscribe: (listener) => {
        listeners.current.add(listener);
        return () => listeners.current.delete(listener);
      },
    }),
    [state],
  );
  return <LiveContext value={live}>{children}</LiveContext>;
}

export const useLiveState = (): LiveState => useContext(LiveContext).state;

/** Calls back with changes, several at a time. */
export function useLiveEvents(listener: Listener): void {
  const { subscribe } = useContext(LiveContext);
  const latest = useRef(listener);
  latest.current = listener;
  useEffect(() => subscribe((events) => latest.current(events)), [subscribe]);
}

function refresh(queries: QueryClient, events: readonly LiveEvent[]): void {
  const lists = new Set(events.flatMap(({ type }) => TOUCHES[type]?.lists ?? []));
  const ones = new Set(
    events.flatMap(({ type, id }) => (TOUCHES[type]?.one ?? []).map((key) => (id === null ? key : `${key} ${id}`))),
  );
  void queries.invalidateQueries({
    predicate: ({ queryKey: [key, id] }) => lists.has(String(key)) || ones.has(String(key)) || ones.has(`${key} ${id}`),
  });
}
