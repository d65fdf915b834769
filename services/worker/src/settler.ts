import { setTimeout as delay } from 'node:timers/promises';
import type { Backbone } from '@capstan/backbone';
import { codeOf, type Delivery, type InvocationStatus, stepPlaceOf } from '@capstan/contracts';
import { hashJson } from '@capstan/integrity';
import type { Relay, Topic } from '@capstan/queue';
import { groupCommit, isUnavailable, type Settlement, settleInvocations } from '@capstan/store';
import type { Running } from './running.js';

export type Settler = {
  settle(running: Running, settlement: Settlement): void;
  /** Invocations that were claimed under this worker's name without it being told: given back unstarted. */
  giveBack(strays: Stray[]): Promise<void>;
  /** Whether this invocation's settlement is still to be written. */
  isSettling(invocation_id: string): boolean;
  idle(): Promise<void>;
};
type Settled = { status: InvocationStatus } | null;
/** `followed`: the coordinator is told of it as well. */
type Ending = { settlement: Settlement; followed: boolean };
type Stray = { invocation_id: string; attempt: number };

const RETRY_MS = 250;
/**
 * While others run here, a result waits for theirs, for a part of the time that it took itself. What follows is shared as
 * well: one signal, answers that go out together, and callers that come back together.
 */
const PATIENCE = 0.5;
const MAX_PATIENCE_MS = 25;

/** Settlements that are ready together are written together; then whoever waits is told. */
export function createSettler(
  { store, queue, relay, log }: Backbone,
  isAlive: () => boolean,
  isBusy: () => boolean,
): Settler {
  const commit = groupCommit<Ending, Settled>({
    write: (endings) =>
      settleInvocations(
        store,
        endings.map(({ settlement }) => settlement),
        signalsOf(relay, endings),
      ),
    patience_ms: ({ settlement: { result } }) =>
      isBusy() ? Math.min((result?.duration_ms ?? 0) * PATIENCE, MAX_PATIENCE_MS) : 0,
    max_batch: 500,
    max_waiting: Number.POSITIVE_INFINITY,
    isolate: (error) => !isUnavailable(error),
  });
  const underWay = new Map<string, Promise<void>>();

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

  const finish = async ({ claimed }: Running, settlement: Settlement) => {
    const ending = { settlement, followed: isFollowed(claimed) };
    const settled = await insist(ending);
    if (!settled) {
      log.warn({ invocation_id: claimed.invocation_id, attempt: claimed.attempt }, 'a late result was refused');
      return;
    }
    if (settled.status === 'held') {
      relay.publish('changed', [claimed.invocation_id]);
      relay.publish('due', ['now']);
      return;
    }
    if (settled.status !== 'queued') {
      if (signalsOf(relay, [ending]).length > 0) return;
      relay.publish('settled', [claimed.invocation_id]);
      if (ending.followed) relay.publish('followed', [claimed.invocation_id]);
      return;
    }
    relay.publish('changed', [claimed.invocation_id]);
    const { invocation_id, runner, attempt, priority } = claimed;
    const delivery: Delivery = { invocation_id, runner, attempt, priority, delay_ms: settlement.backoff_ms };
    await queue.enqueue([delivery]);
  };

  return {
    settle: (running, settlement) => {
      const done = finish(running, settlement)
        // The row says what is left to do; the coordinator finds it.
        .catch((error: unknown) => log.error({ err: error }, 'a settlement was left to the coordinator'))
        .finally(() => {
          // Tried again and settled again, it may be under way a second time.
          if (underWay.get(settlement.invocation_id) === done) underWay.delete(settlement.invocation_id);
        });
      underWay.set(settlement.invocation_id, done);
    },
    giveBack: async (strays) => {
      // The backoff marks them as waiting: on Redis the coordinator delivers them, on Postgres the next claim finds them.
      await settleInvocations(
        store,
        strays.map((stray) => ({
          ...stray,
          status: 'queued',
          backoff_ms: 1,
          outcome: 'handed_back',
          error: 'the answer to its claim was lost',
          result: null,
        })),
      );
    },
    isSettling: (invocation_id) => underWay.has(invocation_id),
    idle: async () => {
      while (underWay.size > 0) await Promise.all(underWay.values());
    },
  };
}

const isFollowed = ({ followed, invocation_id }: Running['claimed']): boolean =>
  followed || stepPlaceOf(invocation_id) !== null;

/** What the very statement that settles them says of those that end, where signals can ride on statements. */
function signalsOf(relay: Relay, endings: readonly Ending[]): string[] {
  const ended = endings.filter(({ settlement: { status } }) => status !== 'queued' && status !== 'held');
  const say = (topic: Topic, some: readonly Ending[]) =>
    relay.riding(
      topic,
      some.map(({ settlement }) => settlement.invocation_id),
    ) ?? [];
  const followed = ended.filter((ending) => ending.followed);
  return [...say('settled', ended), ...say('followed', followed)];
}

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
