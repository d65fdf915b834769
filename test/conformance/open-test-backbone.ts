import { type Backbone, createLog, openBackbone } from '@capstan/backbone';
import { onTestFinished } from 'vitest';

export interface Servers {
  database_url: string;
  /** Left out: the queue is Postgres itself. */
  redis_url?: string | undefined;
}

/** What a process of its own would open; closed when the test has ended. */
export async function openTestBackbone({ database_url, redis_url }: Servers): Promise<Backbone> {
  const log = createLog('conformance', 'silent');
  const backbone = await openBackbone({ database_url, redis_url, name: 'conformance', connections: 8, log });
  onTestFinished(() => backbone.close());
  return backbone;
}
