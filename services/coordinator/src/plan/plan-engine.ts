import type { Backbone } from '@capstan/backbone';
import { stepPlaceOf } from '@capstan/contracts';
import { type CompiledPlan, compilePlan } from '@capstan/plan';
import { type CompiledPolicy, compilePolicy } from '@capstan/policy';
import {
  type ClaimedRun,
  claimPlanRuns,
  findIdlePlanRuns,
  isUnavailable,
  loadPlan,
  policyByHash,
  stopPlanRun,
} from '@capstan/store';
import { handOver } from '../hand-over.js';
import { Kept } from '../kept.js';
import { type Advanced, advance, type Heard } from './advance.js';
import { RunTurn } from './run-turn.js';

const MAX_RUNS = 50;
const MAX_HEARD = 2000;
const KEPT_PLANS = 200;
const KEPT_POLICIES = 500;
/**
 * A turn costs much the same for one ending as for hundreds. While more steps of a run than these are under way, endings are
 * gathered for a moment, until half of them have ended: workers have the other half to do.
 */
const FEW = 8;
/** A run that a sweep has looked at in vain is looked at again after so long. */
const LOOK_AGAIN_MS = 15_000;

export type PlanEngine = {
  /** Ids of invocations that ended; those that are no steps are none of its business. Answers when a turn is due. */
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
  const heard = new Map<string, Heard[]>();
  /** Those of which something may have been missed. */
  const missed = new Set<string>();
  /** Those of which not only endings are to be looked at. */
  const looked = new Set<string>();
  /** How many steps of a run are under way, where it is more than a few, as far as this process knows. */
  const under_way = new Map<string, number>();
  /** Those that are to be looked at now rather than soon. */
  const urgent = new Set<string>();
  const handingOver = new Set<Promise<void>>();
  /** Those that had something to do at the last sweep, and how they stood. */
  let suspects: Map<string, string> | null = null;
  /** How runs stood that were looked at lately for nothing but a sweep: one that waits for a person is not worth a look each time. */
  const lately = new Set<string>();
  let forgotten = performance.now();
  let turn_ms = 0;
  const plans = new Kept<CompiledPlan>(KEPT_PLANS);
  const policies = new Kept<CompiledPolicy>(KEPT_POLICIES);

  const note = (run_id: string): Heard[] => {
    const list = heard.get(run_id) ?? [];
    heard.set(run_id, list);
    return list;
  };
  const lookAt = (run_id: string): void => {
    note(run_id);
    urgent.add(run_id);
    looked.add(run_id);
  };
  const isDue = (run_id: string): boolean => {
    const endings = heard.get(run_id)?.length ?? 0;
    return endings > 0 && 2 * endings >= (under_way.get(run_id) ?? 0);
  };
  const toTurn = async (row: ClaimedRun, unsure: boolean): Promise<RunTurn> => {
    const { db } = backbone.store;
    const plan = await plans.get(row.plan_hash, async () => compilePlan(await loadPlan(db, row.run_id)));
    const policy = await policies.get(row.policy_hash, async () => {
      const found = await policyByHash(db, row.policy_hash);
      if (!found) throw new Error(`no policy has the hash ${row.policy_hash}`);
      return compilePolicy(found.document);
    });
    return new RunTurn(row, plan, policy, unsure);
  };
  const advanceRuns = async (run_ids: readonly string[], endings: readonly Heard[], unsure: readonly string[]) => {
    const told = new Set(endings.map(({ run_id }) => run_id));
    const advanced = await backbone.store.transact(async (query) => {
      const claimed = await claimPlanRuns(query, run_ids);
      const turns = new Map<string, RunTurn>();
      // Whoever was looked at for another reason than an ending may have steps that are ready already.
      for (const row of claimed)
        turns.set(row.run_id, await toTurn(row, looked.delete(row.run_id) || !told.has(row.run_id)));
      const taken = await advance(
        backbone,
        query,
        turns,
        endings,
        unsure.filter((run_id) => turns.has(run_id)),
      );
      return { ...taken, runs: [...turns.keys()], rows: [...turns.values()].map(({ row }) => row) };
    });
    for (const run_id of run_ids) under_way.delete(run_id);
    for (const { run_id, live } of advanced.rows) if (live > FEW) under_way.set(run_id, live);
    // What was heard meanwhile was measured by how it stood before.
    for (const run_id of run_ids) if (isDue(run_id)) urgent.add(run_id);
    const handing = tell(backbone, advanced, advanced.runs).finally(() => handingOver.delete(handing));
    handingOver.add(handing);
    for (const run_id of advanced.unfinished) lookAt(run_id);
    // Another has them at the moment; what was heard is looked up when it is this one's turn again.
    const claimed = new Set(advanced.runs);
    for (const { run_id } of endings) if (!claimed.has(run_id)) missed.add(run_id);
  };

  const turn = async (): Promise<number> => {
    const { run_ids, endings } = take(heard);
    if (run_ids.length === 0) return 0;
    for (const run_id of run_ids) urgent.delete(run_id);
    const began = performance.now();
    const unsure = run_ids.filter((run_id) => missed.delete(run_id));
    try {
      await advanceRuns(run_ids, endings, unsure);
    } catch (error) {
      if (isUnavailable(error)) throw error;
      // One of them cannot go on, and the others shall not wait for it.
      backbone.log.warn({ err: error, runs: run_ids.length }, 'plans could not be advanced together');
      for (const run_id of run_ids) looked.add(run_id);
      for (const run_id of run_ids)
        await advanceRuns(
          [run_id],
          endings.filter((one) => one.run_id === run_id),
          [run_id],
        ).catch((reason: unknown) => giveUp(backbone, run_id, reason));
    }
    turn_ms = performance.now() - began;
    return urgent.size;
  };

  return {
    hear: (invocation_ids) => {
      let due: 'now' | 'soon' | 'never' = 'never';
      for (const invocation_id of invocation_ids) {
        const place = stepPlaceOf(invocation_id);
        if (!place) continue;
        const endings = note(place.run_id);
        endings.push({ ...place, element: place.element ?? -1, invocation_id });
        if (isDue(place.run_id)) urgent.add(place.run_id);
        due = urgent.size > 0 ? 'now' : 'soon';
      }
      return due;
    },
    look: (ids) => {
      const runs = ids.filter((id) => id.startsWith('run_'));
      for (const run_id of runs) lookAt(run_id);
      return runs.length > 0;
    },
    turn,
    sweep: async () => {
      const before = suspects;
      const idle = await findIdlePlanRuns(backbone.store, 10 * MAX_RUNS);
      suspects = new Map(idle.map(({ run_id, state }) => [run_id, state]));
      if (performance.now() - forgotten > LOOK_AGAIN_MS) {
        lately.clear();
        forgotten = performance.now();
      }
      // Most are on their way: what moved since the last look is in good hands, here or in another process. Of what happened
      // before the first look nothing was heard.
      const stuck = idle.filter(
        ({ run_id, state }) =>
          (!before || before.get(run_id) === state) && !heard.has(run_id) && !lately.has(`${run_id} ${state}`),
      );
      for (const { run_id, state } of stuck) {
        lookAt(run_id);
        missed.add(run_id);
        lately.add(`${run_id} ${state}`);
      }
      return stuck.length > 0;
    },
    lastTurnMs: () => turn_ms,
    idle: async () => {
      await Promise.all(handingOver);
    },
  };
}

/** As many runs as a turn takes, with what was heard of them; the rest is for the next. */
function take(heard: Map<string, Heard[]>): { run_ids: string[]; endings: Heard[] } {
  const run_ids: string[] = [];
  const endings: Heard[] = [];
  for (const [run_id, list] of heard) {
    if (run_ids.length === MAX_RUNS || (run_ids.length > 0 && endings.length + list.length > MAX_HEARD)) break;
    heard.delete(run_id);
    run_ids.push(run_id);
    endings.push(...list);
  }
  return { run_ids, endings };
}

async function tell(backbone: Backbone, { boxes, later }: Advanced, runs: readonly string[]): Promise<void> {
  const { relay, log } = backbone;
  relay.publish('changed', runs);
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
