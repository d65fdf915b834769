import type { Backbone } from '@capstan/backbone';
import { type CompiledPlan, compilePlan } from '@capstan/plan';
import { type CompiledPolicy, compilePolicy } from '@capstan/policy';
import { type ClaimedRun, claimPlanRuns, isUnavailable, loadPlan, policyByHash, stopPlanRun } from '@capstan/store';
import { handOver } from '../hand-over.js';
import { Kept } from '../kept.js';
import { type Advanced, advance, type Heard } from './advance.js';
import { Agenda, type Due } from './agenda.js';
import { createIdleSearch } from './idle-search.js';
import { RunTurn } from './run-turn.js';

const KEPT_PLANS = 200;
const KEPT_POLICIES = 500;

export type PlanEngine = {
  /** Ids of invocations that ended. Answers when a turn is due. */
  hear(invocation_ids: readonly string[]): 'now' | 'soon' | 'never';
  /** Runs that were submitted, resumed or canceled. True when there are some. */
  look(ids: readonly string[]): boolean;
  /** Answers how many runs are left to be looked at now. One at a time. */
  turn(): Promise<number>;
  /** Looks for what no signal told of; a turn then does it. True when there is some. */
  sweep(): Promise<boolean>;
  /** How long the last turn took: gathering for longer than that keeps turns from being most of what is done. */
  lastTurnMs(): number;
  /** Resolves when all that was started has been handed over. */
  idle(): Promise<void>;
};

/**
 * Runs plans. A turn takes runs, with what was heard of them, and advances them in one transaction: should this process
 * die, nothing of the turn has happened, and another finds the same to do. Two coordinators never have the same run at a
 * time, because a run is locked for its turn.
 */
export function createPlanEngine(backbone: Backbone): PlanEngine {
  const { db } = backbone.store;
  const agenda = new Agenda();
  const findIdle = createIdleSearch(backbone.store, (run_id) => agenda.has(run_id));
  const handingOver = new Set<Promise<void>>();
  const plans = new Kept<CompiledPlan>(KEPT_PLANS);
  const policies = new Kept<CompiledPolicy>(KEPT_POLICIES);
  let turn_ms = 0;

  const toTurn = async (row: ClaimedRun, unsure: boolean): Promise<RunTurn> => {
    const plan = await plans.get(row.plan_hash, async () => compilePlan(await loadPlan(db, row.run_id)));
    const policy = await policies.get(row.policy_hash, async () => {
      const found = await policyByHash(db, row.policy_hash);
      if (!found) throw new Error(`no policy has the hash ${row.policy_hash}`);
      return compilePolicy(found.document);
    });
    return new RunTurn(row, plan, policy, unsure);
  };

  const advanceRuns = async ({ run_ids, endings, missed, isLookedAt }: Due) => {
    const told = new Set(endings.map(({ run_id }) => run_id));
    const turns = new Map<string, RunTurn>();
    const advanced = await backbone.store.transact(async (query) => {
      // Whoever was looked at for another reason than an ending may have steps that are ready already.
      for (const row of await claimPlanRuns(query, run_ids))
        turns.set(row.run_id, await toTurn(row, isLookedAt(row.run_id) || !told.has(row.run_id)));
      const unsure = missed.filter((run_id) => turns.has(run_id));
      return advance(backbone, query, turns, endings, unsure);
    });
    agenda.stand(run_ids, new Map([...turns].map(([run_id, { row }]) => [run_id, row.live])));
    for (const run_id of advanced.unfinished) agenda.lookAt(run_id);
    // Another has them at the moment; what was heard is looked up when it is this one's turn again.
    for (const run_id of told) if (!turns.has(run_id)) agenda.miss(run_id);
    const handing = tell(backbone, advanced, [...turns.keys()]).finally(() => handingOver.delete(handing));
    handingOver.add(handing);
  };

  /** One of them cannot go on, and the others shall not wait for it. */
  const advanceEach = async ({ run_ids, endings }: Due) => {
    const of = (list: readonly Heard[], run_id: string) => list.filter((one) => one.run_id === run_id);
    for (const run_id of run_ids)
      await advanceRuns({
        run_ids: [run_id],
        endings: of(endings, run_id),
        missed: [run_id],
        isLookedAt: () => true,
      }).catch((reason: unknown) => giveUp(backbone, run_id, reason));
  };

  return {
    hear: (invocation_ids) => agenda.hear(invocation_ids),
    look: (ids) => {
      const runs = ids.filter((id) => id.startsWith('run_'));
      for (const run_id of runs) agenda.lookAt(run_id);
      return runs.length > 0;
    },
    turn: async () => {
      const due = agenda.take();
      if (due.run_ids.length === 0) return 0;
      const began = performance.now();
      try {
        await advanceRuns(due);
      } catch (error) {
        if (isUnavailable(error)) throw error;
        backbone.log.warn({ err: error, runs: due.run_ids.length }, 'plans could not be advanced together');
        await advanceEach(due);
      }
      turn_ms = performance.now() - began;
      return agenda.urgent;
    },
    sweep: async () => {
      const stuck = await findIdle();
      for (const run_id of stuck) {
        agenda.lookAt(run_id);
        agenda.miss(run_id);
      }
      return stuck.length > 0;
    },
    lastTurnMs: () => turn_ms,
    idle: async () => {
      await Promise.all(handingOver);
    },
  };
}

async function tell(backbone: Backbone, { boxes, later }: Advanced, runs: readonly string[]): Promise<void> {
  const { relay, log } = backbone;
  if (!relay.riding('changed', runs)) relay.publish('changed', runs);
  if (later) relay.publish('due', ['now']);
  for (const box of boxes)
    await handOver(backbone, box).catch((error: unknown) =>
      log.warn({ err: error }, 'the queue cannot be reached; the outbox keeps the work'),
    );
}

/** Nothing waits for ever: what cannot be advanced fails. */
async function giveUp({ store, log }: Backbone, run_id: string, error: unknown): Promise<void> {
  log.error({ err: error, run_id }, 'a plan could not be advanced');
  if (isUnavailable(error)) return;
  await stopPlanRun(store, run_id, error instanceof Error ? error.message : String(error));
}
