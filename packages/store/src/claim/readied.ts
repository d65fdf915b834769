import type { QueueName } from '@capstan/contracts';

/** Calls that now wait for a worker, and their runner types. */
export type Readied = { ids: string[]; ready: QueueName[] };

export const readied = (calls: readonly { invocation_id: string; runner: QueueName }[]): Readied => ({
  ids: calls.map(({ invocation_id }) => invocation_id),
  ready: [...new Set(calls.map(({ runner }) => runner))],
});
