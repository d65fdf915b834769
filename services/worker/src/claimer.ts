import type { RunnerType } from '@capstan/contracts';
import type { Claim } from '@capstan/queue';
import { type Claimed, claimByIds, claimNext, groupCommit, isUnavailable, type Store } from '@capstan/store';

export type Claimer = (runner: RunnerType, claim: Claim) => Promise<Claimed[]>;

/** Claims by id that are asked for at the same time become one statement. */
export function createClaimer(store: Store, worker_id: () => string, lease_ms: number): Claimer {
  /**
   * What was claimed longer than a lease ago and not begun is given back as a stray (see start-worker.ts), so an answer
   * that comes this late must not begin anything.
   */
  const inTime = async (claim: Promise<Claimed[]>): Promise<Claimed[]> => {
    const asked = performance.now();
    const claimed = await claim;
    return performance.now() - asked < lease_ms ? claimed : [];
  };
  const byIds = groupCommit<string[], Claimed[]>({
    write: async (groups) => {
      const claimed = await inTime(claimByIds(store, worker_id(), groups.flat()));
      const rows = new Map(claimed.map((row) => [row.invocation_id, row]));
      return groups.map((ids) => ids.flatMap((id) => takeOut(rows, id)));
    },
    max_batch: 100,
    max_waiting: Number.POSITIVE_INFINITY,
    isolate: (error) => !isUnavailable(error),
  });
  return (runner, claim) =>
    'ids' in claim ? byIds(claim.ids) : inTime(claimNext(store, worker_id(), runner, claim.limit));
}

/** An id that two deliveries brought at once belongs to the first. */
function takeOut(rows: Map<string, Claimed>, id: string): Claimed[] {
  const row = rows.get(id);
  rows.delete(id);
  return row ? [row] : [];
}
