import type { Backbone } from '@capstan/backbone';
import type { CompiledPolicy } from '@capstan/policy';
import {
  announceHolds,
  endOverdueQuestions,
  freshHolds,
  holdsToDo,
  markApplied,
  newGrants,
  pendingHolds,
  warnOfHolds,
} from '@capstan/store';
import { BACKSTOP, every } from '../every.js';
import { Kept } from '../kept.js';
import { repeat } from '../repeat.js';
import { applyGrants } from './apply-grants.js';

const BATCH = 500;
const KEPT_POLICIES = 50;

/**
 * What is done about holds while nobody looks: votes that were given in advance, and the news of holds that came or are about to
 * expire. Expiry itself is that of every invocation that waits.
 */
export function runHolds(backbone: Backbone, sweep_ms: number): { stop(): Promise<void> } {
  const { store, relay, log } = backbone;
  const policies = new Kept<CompiledPolicy>(KEPT_POLICIES);
  const backstop = every(sweep_ms, BACKSTOP.due);
  let warn_in_ms: number | null = null;
  const turn = async (): Promise<number> => {
    const { fresh, granted, overdue, ...next } = await holdsToDo(store);
    if (overdue) await endOverdueQuestions(store);
    warn_in_ms = next.warn_in_ms;
    // Before they are told of: what a grant releases at once is no news to anybody. Should this process end here, the next
    // one finds them just as fresh.
    const came = fresh ? await freshHolds(store.db, BATCH) : [];
    for (const hold of came) await applyGrants(backbone, policies, hold);
    if (granted) await lookAgain(backbone, policies);
    // None but those looked at: what has come meanwhile may have a grant.
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
  // What came while it was at work woke it again; another coordinator may have what is due.
  const untilDue = async () => {
    const next_ms = warn_in_ms ?? Infinity;
    return Math.min(next_ms > 0 ? next_ms : sweep_ms, await backstop());
  };
  const holds = repeat(log, 'holds', turn, untilDue);
  // Told for whatever waits; what is about webhooks alone is none of its business.
  const unsubscribe = relay.subscribe('due', (ids) => ids.includes('now') && holds.wake(), holds.wake);
  return {
    stop: async () => {
      unsubscribe();
      await holds.stop();
    },
  };
}

/** Holds that were pending before a grant came. */
async function lookAgain(backbone: Backbone, policies: Kept<CompiledPolicy>): Promise<void> {
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
