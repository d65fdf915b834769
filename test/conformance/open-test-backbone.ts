import { type Backbone, createLog, openBackbone } from '@capstan/backbone';
import { onTestFinished } from 'vitest';

export interface Servers {
  database_url: string;
  /** If left out, the queue is in Postgres. */
  redis_url?: string | undefined;
}

/** Opens what a separate process would open, and closes it at the end of the test. */
export async function openTestBackbone({ database_url, redis_url }: Servers): Promise<Backbone> {
  const log = createLog('conformance', 'silent');
  const backbone = await openBackbone({ database_url, redis_url, name: 'conformance', connections: 8, log });
  onTestFinished(() => backbone.close());
  return backbone;
}
