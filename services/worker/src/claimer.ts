import type { RunnerType } from '@capstan/contracts';
import { type Claimed, claimNext, type Store } from '@capstan/store';

export type Claimer = (runner: RunnerType, limit: number) => Promise<Claimed[]>;
type Asking = { limit: number; resolve(claimed: Claimed[]): void; reject(error: unknown): void };

/** Claims for one runner type that are asked for while another is under way become one statement. */
export function createClaimer(store: Store, worker_id: () => string, lease_ms: number): Claimer {
  const queues = new Map<RunnerType, (limit: number) => Promise<Claimed[]>>();

  const openQueue = (runner: RunnerType) => {
    const turn = { last: '' };
    let asking: Asking[] = [];
    let busy = false;

    /**
     * What was claimed longer than a lease ago and not begun is given back as a stray (see start-worker.ts), so an answer
     * that comes this late must not begin anything.
     */
    const claimInTime = async (limit: number): Promise<Claimed[]> => {
      const asked = performance.now();
      const claimed = await claimNext(store, worker_id(), runner, limit, turn);
      return performance.now() - asked < lease_ms ? claimed : [];
    };
    const claimForAll = async () => {
      while (asking.length > 0) {
        const round = asking;
        asking = [];
        try {
          const claimed = await claimInTime(round.reduce((sum, { limit }) => sum + limit, 0));
          for (const { limit, resolve } of round) resolve(claimed.splice(0, limit));
        } catch (error) {
          for (const { reject } of round) reject(error);
        }
      }
      busy = false;
    };
    return (limit: number) =>
      new Promise<Claimed[]>((resolve, reject) => {
        asking.push({ limit, resolve, reject });
        if (busy) return;
        busy = true;
        setImmediate(claimForAll);
      });
  };

  return (runner, limit) => {
    const queue = queues.get(runner) ?? openQueue(runner);
    queues.set(runner, queue);
    return queue(limit);
  };
}
