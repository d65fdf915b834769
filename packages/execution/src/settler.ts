import type { Backbone } from '@capstan/backbone';
import { codeOf, type InvocationStatus, kindOf, stepPlaceOf } from '@capstan/contracts';
import { hashJson } from '@capstan/integrity';
import type { Relay } from '@capstan/queue';
import { publishEnded } from '@capstan/queue';
import { groupCommit, isUnavailable } from '@capstan/store';
import {
  type Claimed,
  ENDED,
  type EndSignals,
  isReturn,
  keptResult,
  type Settled,
  type Settlement,
  settleClaims,
} from '@capstan/store/claim';
import { MAX_PAYLOAD_BYTES } from '@capstan/store/signal';
import type { Receipts } from './intake.js';
import { retryWhileUnavailable } from './retry-while-unavailable.js';
import type { Running } from './running.js';
import { idsOf } from './trace-attempt.js';

export type Settler = {
  /** Resolves when the settlement is written; null if it was refused or left to the coordinator. */
  settle(running: Running, settlement: Settlement): Promise<Settled>;
  idle(): Promise<void>;
};
/** `followed`: the coordinator is signaled as well. */
export type Ending = { settlement: Settlement; followed: boolean };

/**
 * A result waits for others, so that they share one write and what follows: one signal, answers that go out together, and callers
 * that come back together. It waits for a fraction of its own duration at most, and not once as many results wait as calls
 * are still running. Then one half of the callers comes back while the other half's calls run. With all of them in step,
 * a fifth of the CPU time was idle (`true` in bubblewrap, 8 at a time).
 */
export const settlingPatience = (duration_ms: number, gathered: number, running: number): number =>
  gathered < running ? Math.min(duration_ms * PATIENCE, MAX_PATIENCE_MS) : 0;
const PATIENCE = 0.5;
const MAX_PATIENCE_MS = 25;

type SettlerOptions = {
  receipts: Receipts;
  isAlive(): boolean;
  running(): number;
  /** The slots that this worker offers from now on; signaled together with the settlements. */
  offers(): string[];
};

/** Writes settlements in batches, then signals waiting callers. */
export function createSettler(backbone: Backbone, options: SettlerOptions): Settler {
  const { log, denials } = backbone;
  const commit = createCommit(backbone, options);
  const underWay = new Set<Promise<Settled>>();

  /** Retries while Postgres is unavailable: the result exists only here. A result that Postgres rejects is settled as a failure. */
  const write = async (ending: Ending): Promise<Settled> => {
    const { settlement } = ending;
    try {
      return await retryWhileUnavailable(() => commit(ending), options.isAlive);
    } catch (error) {
      if (isUnavailable(error)) throw error;
      log.error({ err: error, invocation_id: settlement.invocation_id }, 'a result could not be stored');
      return commit({ ...ending, settlement: unstorable(settlement) });
    }
  };

  const finish = async ({ claimed, trace }: Running, settlement: Settlement): Promise<Settled> => {
    const settled = await write({ settlement, followed: isFollowed(claimed) });
    trace?.settled(settled?.status ?? null);
    if (!settled) {
      log.warn(
        { ...idsOf(claimed, trace), attempt: claimed.attempt },
        'late result refused: the call no longer belongs to this worker',
      );
      return null;
    }
    if (settled.status === 'denied') denials.note(kindOf(settlement.result?.code ?? 0) ?? null);
    // The statement that writes an end also signals it.
    if (isReturn(settlement)) signalReturn(backbone, claimed, settled.status, settlement.backoff_ms);
    return settled;
  };

  return {
    settle: (running, settlement) => {
      const done = finish(running, settlement)
        // The receipt remains, so the coordinator rescues the call when this worker's lease expires.
        .catch((error: unknown) => {
          running.trace?.settled(null);
          log.error(
            { err: error, ...idsOf(running.claimed, running.trace) },
            'settlement not written in time; the coordinator will recover the call',
          );
          return null;
        })
        .finally(() => underWay.delete(done));
      underWay.add(done);
      return done;
    },
    idle: async () => {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}

/** One statement writes the settlements of a batch, and signals the calls that ended. */
const createCommit = ({ store, relay }: Backbone, { receipts, running, offers }: SettlerOptions) =>
  groupCommit<Ending, Settled>({
    write: async (endings) => {
      const settlements = endings.map(({ settlement }) => settlement);
      const ids = new Set(settlements.map(({ invocation_id }) => invocation_id));
      const { signals, publishRest } = endSignals(relay, endings, offers());
      const settled = await settleClaims(
        store,
        settlements,
        (claim_id) => receipts.isCompletedBy(claim_id, ids),
        signals,
      );
      for (const { claim_id, invocation_id } of settlements) receipts.settled(claim_id, invocation_id);
      publishRest(settled);
      return settled;
    },
    patience_ms: ({ settlement: { result } }, _, gathered) =>
      settlingPatience(result?.duration_ms ?? 0, gathered, running()),
    max_batch: 500,
    max_waiting: Number.POSITIVE_INFINITY,
    isolate: (error) => !isUnavailable(error),
  });

function signalReturn(
  { relay, dispatcher }: Backbone,
  { invocation_id, runner }: Claimed,
  status: InvocationStatus,
  backoff_ms: number,
): void {
  // It was to be retried, but a cancel had been requested.
  if (status === 'canceled') {
    publishEnded(relay, [invocation_id]);
    return;
  }
  relay.publish('changed', [invocation_id]);
  if (status === 'queued') dispatcher.wakeAfter(runner, backoff_ms);
  else relay.publish('due', ['now']);
}

const isFollowed = ({ followed, invocation_id }: Running['claimed']): boolean =>
  followed || stepPlaceOf(invocation_id) !== null;

const unstorable = (settlement: Settlement): Settlement => ({
  ...settlement,
  status: settlement.status === 'succeeded' ? 'failed' : settlement.status,
  outcome: 'failed',
  error: 'the result could not be stored',
  result: settlement.result && {
    ...settlement.result,
    success: false,
    payload: null,
    code: codeOf('STORAGE_REFUSED'),
    output_hash: hashJson(null),
  },
});

/** Leaves room in a message for its address and the time. */
const MAX_BYTES = MAX_PAYLOAD_BYTES - 100;

type BatchSignals = {
  signals: EndSignals;
  /** Publishes the signals that the statement itself cannot send. Call it after the statement. */
  publishRest(settled: readonly Settled[]): void;
};

/**
 * The signals of the statement that ends calls. They carry the results themselves if these are small, so that waiting callers need no
 * query. They carry only ids if results are large, if part of the batch was refused, or if the calls belong to a run, because
 * nobody waits for those one by one.
 */
export function endSignals(relay: Relay, endings: readonly Ending[], offers: readonly string[]): BatchSignals {
  const ended = endings.filter(({ settlement }) => !isReturn(settlement));
  const { messages, left } = pack(ended.map(({ settlement }) => settlement));
  const ids = ended.map(({ settlement }) => settlement.invocation_id);
  const followed = ended.filter((ending) => ending.followed).map(({ settlement }) => settlement.invocation_id);
  const riding = [...(relay.riding('followed', followed) ?? []), ...(relay.riding('room', offers) ?? [])];
  const settledRides = relay.riding('settled', ids);
  return {
    signals: {
      all: [...messages, ...(relay.riding('settled', left) ?? []), ...riding],
      some: [...(settledRides ?? []), ...riding],
    },
    publishRest: (settled) => {
      if (settledRides !== null) return;
      const isWhole = settled.every((one) => one !== null);
      relay.publish('settled', isWhole ? left : ids);
      relay.publish('followed', followed);
    },
  };
}

/** Packs results into as few messages as possible, and returns the ids of those that are not in one. */
function pack(settlements: readonly Settlement[]): { messages: string[]; left: string[] } {
  const messages: string[] = [];
  const left: string[] = [];
  let open: string[] = [];
  let bytes = 0;
  const close = () => {
    if (open.length > 0) messages.push(`${ENDED} [${open.join()}]`);
    open = [];
    bytes = 0;
  };
  for (const settlement of settlements) {
    if (settlement.run_id !== null) {
      left.push(settlement.invocation_id);
      continue;
    }
    const text = outcomeText(settlement);
    const size = Buffer.byteLength(text) + 1;
    if (size > MAX_BYTES) {
      left.push(settlement.invocation_id);
      continue;
    }
    if (bytes + size > MAX_BYTES) close();
    open.push(text);
    bytes += size;
  }
  close();
  return { messages, left };
}

/** An InvocationOutcome as JSON, without the time. */
function outcomeText(settlement: Settlement): string {
  const { invocation_id, status, attempt } = settlement;
  const kept = keptResult(settlement);
  const result = kept && {
    success: kept.success,
    payload: kept.payload,
    error: settlement.error,
    code: kept.code,
    declared_side_effects: kept.declared_side_effects,
    artifacts: kept.artifacts,
    facts: kept.facts,
    duration_ms: kept.duration_ms,
    exit_code: kept.exit_code,
    truncated: kept.truncated,
    input_hash: kept.input_hash,
    output_hash: kept.output_hash,
    chain_hash: null,
  };
  return JSON.stringify({ invocation_id, status, attempt, result });
}
