import type { Backbone } from '@capstan/backbone';
import type { PolicyCache } from '@capstan/policy';
import {
  announceHolds,
  endOverdueQuestions,
  freshHolds,
  holdsToDo,
  markApplied,
  newGrants,
  pendingHolds,
  warnOfHolds,
} from '@capstan/store/hold';
import { BACKSTOP, every } from '../every.js';
import { repeat } from '../repeat.js';
import { applyGrants } from './apply-grants.js';

const BATCH = 500;

/**
 * Applies grants to holds, and announces new and soon expiring holds. `runDeadlines` expires holds, as it does all waiting
 * invocations.
 */
export function runHolds(backbone: Backbone, policies: PolicyCache, sweep_ms: number): { stop(): Promise<void> } {
  const { store, relay, log } = backbone;
  const backstop = every(sweep_ms, BACKSTOP.due);
  let warn_in_ms: number | null = null;
  const turn = async (): Promise<number> => {
    const { fresh, granted, overdue, ...next } = await holdsToDo(store);
    if (overdue) await endOverdueQuestions(store);
    warn_in_ms = next.warn_in_ms;
    // Grants are applied before holds are announced, so that a hold released at once notifies nobody. If this process dies here,
    // the holds are still unannounced and the next turn finds them.
    const came = fresh ? await freshHolds(store.db, BATCH) : [];
    for (const hold of came) await applyGrants(backbone, policies, hold);
    if (granted) await lookAgain(backbone, policies);
    // Only these: a hold created in the meantime may be covered by a grant.
    const announced =
      came.length > 0
        ? await announceHolds(
            store,
            came.map(({ hold_id }) => hold_id),
          )
        : [];
    const warned = warn_in_ms !== null && warn_in_ms <= 0 ? await warnOfHolds(store, BATCH) : 0;
    if (announced.length + warned > 0) relay.publish('due', ['events']);
    return came.length === BATCH || warned === BATCH ? 1 : 0;
  };
  // New holds wake this duty. A hold that is due may be locked by another coordinator, so it is not polled.
  const untilDue = async () => {
    const next_ms = warn_in_ms ?? Infinity;
    return Math.min(next_ms > 0 ? next_ms : sweep_ms, await backstop());
  };
  const holds = repeat(log, 'holds', turn, untilDue);
  // `now` is sent for everything that waits, such as a new hold. The other ids of `due` concern other duties.
  const unsubscribe = relay.subscribe('due', (ids) => ids.includes('now') && holds.wake(), holds.wake);
  return {
    stop: async () => {
      unsubscribe();
      await holds.stop();
    },
  };
}

/** Applies new grants to holds that were already pending. */
async function lookAgain(backbone: Backbone, policies: PolicyCache): Promise<void> {
  const { db } = backbone.store;
  const grants = await newGrants(db, BATCH);
  if (grants.length === 0) return;
  const tenants = [...new Set(grants.map(({ tenant }) => tenant))];
  for (let after = '0'; ; ) {
    const holds = await pendingHolds(db, tenants, after, BATCH);
    for (const hold of holds) await applyGrants(backbone, policies, hold);
    after = holds.at(-1)?.seq ?? after;
    if (holds.length < BATCH) break;
  }
  await markApplied(
    db,
    grants.map(({ grant_id }) => grant_id),
  );
}
