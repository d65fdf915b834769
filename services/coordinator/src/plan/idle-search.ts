import type { Store } from '@capstan/store';
import { findIdlePlanRuns } from '@capstan/store/plan';

const MAX_FOUND = 500;
/** How long a run that was found is not returned again in the same state. A run that waits for a person would be found each time. */
const LOOK_AGAIN_MS = 15_000;

export type IdleSearch = {
  find(): Promise<{ stuck: string[]; suspects: number }>;
  /** Lets the next search return the run again: another coordinator had claimed it, and that one may be frozen. */
  again(run_id: string): void;
};

/**
 * Finds runs with pending work that no signal announced. A run that changed since the last search is being advanced, here or by
 * another process, so only unchanged ones are returned. The first search returns all, because earlier signals were not received.
 */
export function createIdleSearch(store: Store, isHeardOf: (run_id: string) => boolean): IdleSearch {
  /** Runs with pending work at the last search, and their state. */
  let before: Map<string, string> | null = null;
  /** The state in which recently returned runs were found. */
  const lately = new Map<string, string>();
  let forgotten = performance.now();

  return {
    find: async () => {
      const idle = await findIdlePlanRuns(store, MAX_FOUND);
      if (performance.now() - forgotten > LOOK_AGAIN_MS) {
        lately.clear();
        forgotten = performance.now();
      }
      const stuck = idle.filter(
        ({ run_id, state }) =>
          (!before || before.get(run_id) === state) && !isHeardOf(run_id) && lately.get(run_id) !== state,
      );
      before = new Map(idle.map(({ run_id, state }) => [run_id, state]));
      for (const { run_id, state } of stuck) lately.set(run_id, state);
      const suspects = idle.filter(({ run_id, state }) => lately.get(run_id) !== state).length;
      return { stuck: stuck.map(({ run_id }) => run_id), suspects };
    },
    again: (run_id) => {
      lately.delete(run_id);
    },
  };
}
