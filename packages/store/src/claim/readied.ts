import type { RunnerType } from '@capstan/contracts';

/** Calls that wait for a worker from here on, and the runner types that thereby have work. */
export type Readied = { ids: string[]; ready: RunnerType[] };

export const readied = (calls: readonly { invocation_id: string; runner: RunnerType }[]): Readied => ({
  ids: calls.map(({ invocation_id }) => invocation_id),
  ready: [...new Set(calls.map(({ runner }) => runner))],
});
