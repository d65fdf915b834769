import { HOUR_MS } from '@capstan/contracts';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';

type Answer = Record<string, unknown>;
type Kept = { answer: Answer; server: string; uri: string; size: number };
/** The reader and the resource. `key` is that of the connection, so that tenants and configurations never share an answer. */
export type Reading = { key: string; server: string; actor: string; uri: string };

const MAX_KEPT = 1000;
const MAX_BYTES = 32 * 1024 * 1024;
const Cacheable = z.object({ ttlMs: z.number().positive(), cacheScope: z.enum(['public', 'private']) });

/** Caches resources of MCP servers for as long as the server allows: for everybody, or for the person who read them. */
export class ReadCache {
  readonly #kept = new LRUCache<string, Kept>({
    ...{ max: MAX_KEPT, maxSize: MAX_BYTES, maxEntrySize: MAX_BYTES / 8 },
    sizeCalculation: ({ size }) => size,
  });

  /** Returns the answer with its remaining lifetime. */
  find(reading: Reading): Answer | null {
    for (const key of [keyOf(reading, 'private'), keyOf(reading, 'public')]) {
      const kept = this.#kept.get(key);
      if (kept) return { ...kept.answer, ttlMs: Math.floor(this.#kept.getRemainingTTL(key)) };
    }
    return null;
  }

  keep(reading: Reading, answer: Answer): void {
    const { data } = Cacheable.safeParse(answer);
    if (!data) return;
    const { server, uri } = reading;
    const size = Buffer.byteLength(JSON.stringify(answer));
    const ttl = Math.min(data.ttlMs, HOUR_MS);
    this.#kept.set(keyOf(reading, data.cacheScope), { answer, server, uri, size }, { ttl });
  }

  /** Drops resources that have changed. */
  drop(isChanged: (server: string, uri: string) => boolean): void {
    for (const [key, { server, uri }] of this.#kept.entries()) if (isChanged(server, uri)) this.#kept.delete(key);
  }
}

const keyOf = ({ key, actor, uri }: Reading, scope: 'public' | 'private'): string =>
  JSON.stringify([key, scope === 'private' ? actor : null, uri]);
