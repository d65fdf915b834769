import type { Invocation, Waiting } from '@capstan/contracts';
import { readQueueStanding } from '@capstan/store/queue';
import type { GatewayContext } from '../gateway-context.js';

/** Why an invocation does not start, if somebody may have to act; null if it only waits for its turn. */
export async function whyWaiting(
  { store }: GatewayContext,
  { status, hold_id, decision, run_at, runner }: Invocation,
  quotas: readonly string[],
): Promise<Waiting | null> {
  switch (status) {
    case 'held':
      return {
        cause: 'hold',
        detail: `it waits for a person: ${decision.reason}`,
        suggestion: `Decide on it: capstan release ${hold_id}, or capstan reject ${hold_id} --comment "…".`,
      };
    case 'deferred':
      return quotas.length > 0 ? quotaUsedUp(quotas) : notBefore(run_at);
    case 'queued': {
      const { paused, workers } = await readQueueStanding(store.db, runner);
      if (paused)
        return {
          cause: 'queue_paused',
          detail: `the queue ${runner} is paused`,
          suggestion: `An operator can resume it: capstan queues resume ${runner}.`,
        };
      return workers > 0 ? null : noWorker(runner);
    }
    default:
      return null;
  }
}

const quotaUsedUp = (scopes: readonly string[]): Waiting => ({
  cause: 'quota',
  detail: `the quota of ${scopes.join(', ')} is used up`,
  suggestion: 'It starts when there is room. See the usage and when it resets: capstan quota usage.',
});

const notBefore = (run_at: string | null): Waiting | null =>
  run_at === null
    ? null
    : { cause: 'run_at', detail: `it is to start at ${run_at}`, suggestion: 'Wait for it later, or cancel it.' };

const noWorker = (runner: Invocation['runner']): Waiting => ({
  cause: 'no_worker',
  detail: `no worker serves ${runner}`,
  suggestion: runner.startsWith('app/')
    ? `Start the process that serves this pool: capstan serve <file> --pool ${runner.slice('app/'.length)}.`
    : `Start one: capstan worker --runner ${runner}.`,
});
