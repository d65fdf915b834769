import type { Relay, Topic } from '../relay/relay.js';

export type MemoryRelay = Relay & {
  /** Simulates a signal from another process. */
  say(topic: Topic, ...ids: string[]): void;
  /** Simulates the start of listening, or a reconnect. */
  listen(): void;
  /** Everything published through this relay. */
  readonly published: { topic: Topic; ids: readonly string[] }[];
  /** The number of current listeners. */
  listening(): number;
};

/** A relay without servers: signals arrive at once. `rides`: signals are sent by statements, which are not executed here. */
export function memoryRelay({ rides = false } = {}): MemoryRelay {
  const listeners = new Set<{ topic: Topic; hear(ids: string[]): void; onListening: (() => void) | undefined }>();
  const receivers = new Map<string, (contents: string) => void>();
  const published: MemoryRelay['published'] = [];
  return {
    published,
    publish: (topic, ids) => {
      if (ids.length > 0) published.push({ topic, ids });
    },
    riding: (topic, ids) => {
      if (!rides) return null;
      return ids.length > 0 ? [[topic, ...ids].join(' ')] : [];
    },
    subscribe: (topic, hear, onListening) => {
      const listener = { topic, hear, onListening };
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    receive: (address, receiver) => {
      receivers.set(address, receiver);
      return () => receivers.delete(address);
    },
    receiverHere: (address) => receivers.get(address),
    close: () => Promise.resolve(),
    say: (topic, ...ids) => {
      for (const listener of listeners) if (listener.topic === topic) listener.hear(ids);
    },
    listen: () => {
      for (const { onListening } of listeners) onListening?.();
    },
    listening: () => listeners.size,
  };
}
