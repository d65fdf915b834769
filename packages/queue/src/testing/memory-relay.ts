import type { Relay, Topic } from '../relay/relay.js';

export type MemoryRelay = Relay & {
  /** As if another process had sent this. */
  say(topic: Topic, ...ids: string[]): void;
  /** As if listening had begun, or begun again. */
  listen(): void;
  /** What was published here. */
  readonly published: { topic: Topic; ids: readonly string[] }[];
  /** How many listen at the moment. */
  listening(): number;
};

/** A relay without servers: what is said arrives at once. `rides`: signals ride on statements, which nobody sends here. */
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
