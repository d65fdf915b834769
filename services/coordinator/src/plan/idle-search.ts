import { findIdlePlanRuns, type Store } from '@capstan/store';

const MAX_FOUND = 500;
/** A run that was looked at in vain is looked at again after so long: one that waits for a person is not worth a look each time. */
const LOOK_AGAIN_MS = 15_000;

export type IdleSearch = {
  find(): Promise<{ stuck: string[]; suspects: number }>;
  /** Another had it: should that one be frozen, it is to be found again soon. */
  again(run_id: string): void;
};

/**
 * Finds runs with something to do that no signal told of. Most that look like it are on their way: what moved since the last
 * search is in good hands, here or in another process. Of what happened before the first search nothing was heard.
 */
export function createIdleSearch(store: Store, isHeardOf: (run_id: string) => boolean): IdleSearch {
  /** Those that had something to do at the last search, and how they stood. */
  let before: Map<string, string> | null = null;
  /** How those stood that were found lately. */
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
