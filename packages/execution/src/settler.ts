import { setTimeout as delay } from 'node:timers/promises';
import type { Backbone } from '@capstan/backbone';
import { codeOf, type InvocationStatus, stepPlaceOf } from '@capstan/contracts';
import { hashJson } from '@capstan/integrity';
import { publishEnded } from '@capstan/queue';
import {
  type Claimed,
  groupCommit,
  isReturn,
  isUnavailable,
  type Settled,
  type Settlement,
  settleClaims,
} from '@capstan/store';
import { endSignals } from './end-signals.js';
import type { Receipts } from './receipts.js';
import type { Running } from './running.js';
import { idsOf } from './trace-attempt.js';

export type Settler = {
  /** Resolves once it is written: null when it was refused, or left to the coordinator. */
  settle(running: Running, settlement: Settlement): Promise<Settled>;
  idle(): Promise<void>;
};
/** `followed`: the coordinator is told of it as well. */
export type Ending = { settlement: Settlement; followed: boolean };

const RETRY_MS = 250;
/**
 * While others run here, a result waits for theirs, for a part of the time that it took itself. What follows is shared as
 * well: one signal, answers that go out together, and callers that come back together.
 */
const PATIENCE = 0.5;
const MAX_PATIENCE_MS = 25;

type SettlerOptions = {
  receipts: Receipts;
  isAlive(): boolean;
  isBusy(): boolean;
  /** What this worker offers to take from here on. */
  offers(): string[];
};

/** Settlements that are ready together are written together; then whoever waits is told. */
export function createSettler({ store, relay, dispatcher, log }: Backbone, options: SettlerOptions): Settler {
  const { receipts, isAlive, isBusy, offers } = options;
  const commit = groupCommit<Ending, Settled>({
    write: async (endings) => {
      const settlements = endings.map(({ settlement }) => settlement);
      const ids = new Set(settlements.map(({ invocation_id }) => invocation_id));
      const { signals, tellHere } = endSignals(relay, endings, offers());
      const settled = await settleClaims(
        store,
        settlements,
        (claim_id) => receipts.isCompletedBy(claim_id, ids),
        signals,
      );
      for (const { claim_id, invocation_id } of settlements) receipts.settled(claim_id, invocation_id);
      tellHere(settled);
      return settled;
    },
    patience_ms: ({ settlement: { result } }) =>
      isBusy() ? Math.min((result?.duration_ms ?? 0) * PATIENCE, MAX_PATIENCE_MS) : 0,
    max_batch: 500,
    max_waiting: Number.POSITIVE_INFINITY,
    isolate: (error) => !isUnavailable(error),
  });
  const underWay = new Set<Promise<Settled>>();

  /** Postgres being away is waited out: the result exists only here. What it refuses is settled as a failure. */
  const insist = async (ending: Ending): Promise<Settled> => {
    const { settlement } = ending;
    for (;;) {
      try {
        return await commit(ending);
      } catch (error) {
        if (!isUnavailable(error)) {
          log.error({ err: error, invocation_id: settlement.invocation_id }, 'a result could not be stored');
          return commit({ ...ending, settlement: unstorable(settlement) });
        }
        if (!isAlive()) throw error;
        await delay(RETRY_MS);
      }
    }
  };

  const finish = async ({ claimed, trace }: Running, settlement: Settlement): Promise<Settled> => {
    const settled = await insist({ settlement, followed: isFollowed(claimed) });
    trace?.settled(settled?.status ?? null);
    if (!settled) {
      log.warn({ ...idsOf(claimed, trace), attempt: claimed.attempt }, 'a late result was refused');
      return null;
    }
    // An end is told by the statement that wrote it.
    if (isReturn(settlement)) tellReturned(claimed, settled.status, settlement.backoff_ms);
    return settled;
  };

  const tellReturned = ({ invocation_id, runner }: Claimed, status: InvocationStatus, backoff_ms: number) => {
    // It was to be tried again, and somebody had asked to cancel it.
    if (status === 'canceled') return publishEnded(relay, [invocation_id]);
    relay.publish('changed', [invocation_id]);
    if (status === 'queued') dispatcher.wakeAfter(runner, backoff_ms);
    else relay.publish('due', ['now']);
  };

  return {
    settle: (running, settlement) => {
      const done = finish(running, settlement)
        // Its receipt says what is left to do; the coordinator finds it once this worker is gone.
        .catch((error: unknown) => {
          running.trace?.settled(null);
          log.error(
            { err: error, ...idsOf(running.claimed, running.trace) },
            'a settlement was left to the coordinator',
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
