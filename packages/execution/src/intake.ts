import { setTimeout as delay } from 'node:timers/promises';
import { type Backbone, givenTo, readGiven } from '@capstan/backbone';
import type { QueueName } from '@capstan/contracts';
import type { Consumer, Start, WorkSource } from '@capstan/queue';
import {
  type Claimed,
  claimNext,
  groupCommit,
  type Heartbeat,
  isUnavailable,
  ownAnyClaims,
  ownClaims,
  readClaims,
} from '@capstan/store';
import type { Receipts } from './receipts.js';

const RETRY_MS = 250;

type IntakeOptions = {
  worker_id(): string;
  lease_ms: number;
  receipts: Receipts;
  isAlive(): boolean;
  /** Resolves when the call no longer takes up a slot. */
  run(claimed: Claimed): Promise<void>;
  consumer(runner: QueueName): Consumer | undefined;
};

/** How calls come to this worker: claimed, brought as receipts by the queue, or handed over with their commit. */
export type Intake = {
  sourceOf(runner: QueueName, onTake: () => void): WorkSource;
  /** Calls that are handed to this worker arrive under its id; null: it takes none for now. */
  receiveAs(worker_id: string | null): void;
  /** Receipts that stand under this worker's name and that it was not told of. */
  adopt(mine: Heartbeat['receipts']): void;
};

export function createIntake({ store, relay, log }: Backbone, options: IntakeOptions): Intake {
  const { worker_id, lease_ms, receipts, isAlive } = options;

  const begin = (calls: readonly Claimed[]): Start[] => {
    const mine = worker_id();
    return receipts.begin(calls).map((call) => async () => {
      // One that had to wait for its slot until the lease was lost is somebody else's.
      if (worker_id() === mine) await options.run(call);
      else receipts.settled(call.claim_id, call.invocation_id);
    });
  };
  /** Postgres being away is waited out: what the queue brought exists only here until it is owned. */
  const insist = async (take: () => Promise<Claimed[]>): Promise<Start[]> => {
    for (;;) {
      try {
        return begin(await inTime(lease_ms, take));
      } catch (error) {
        if (!isUnavailable(error)) {
          log.error({ err: error }, 'a claim was refused');
          throw error;
        }
        if (!isAlive()) return [];
        await delay(RETRY_MS);
      }
    }
  };
  /** Receipts that arrive together are owned together. */
  const own = groupCommit<string, Claimed[]>({
    write: async (claim_ids) => {
      const calls = await ownClaims(store, worker_id(), claim_ids);
      return claim_ids.map((claim_id) => calls.filter((call) => call.claim_id === claim_id));
    },
    max_batch: 100,
    max_waiting: Number.POSITIVE_INFINITY,
    isolate: () => false,
  });
  /** Owned only once a slot is free: what is not owned can be taken back unharmed. */
  const whenOwned =
    (claim_id: string): Start =>
    async () => {
      const starts = await insist(() => own(claim_id));
      await Promise.all(starts.map((start) => start()));
    };
  /** Receipts that wait for a slot to be owned: a heartbeat names them, too. */
  const waiting = new Set<string>();
  const bring = async (runner: QueueName, claim_id: string, owned: boolean): Promise<void> => {
    // A heartbeat names it again once there is one.
    const consumer = options.consumer(runner);
    if (!consumer) return;
    if (owned) {
      consumer.run(await insist(() => readClaims(store, worker_id(), [claim_id])));
      return;
    }
    if (waiting.has(claim_id)) return;
    waiting.add(claim_id);
    const start: Start = () => whenOwned(claim_id)().finally(() => waiting.delete(claim_id));
    consumer.run([start]);
  };

  let stopReceiving = () => {};
  return {
    sourceOf: (runner, onTake) => {
      const turn = { last: '' };
      const taking = (take: () => Promise<Claimed[]>) => {
        onTake();
        return insist(take);
      };
      return {
        claim: (limit) => taking(() => claimNext(store, worker_id(), runner, limit, turn)),
        own: (claim_id) => taking(() => own(claim_id)),
        ownAny: (limit) => taking(() => ownAnyClaims(store, worker_id(), runner, limit)),
      };
    },
    receiveAs: (id) => {
      stopReceiving();
      stopReceiving = () => {};
      if (id === null) return;
      stopReceiving = relay.receive(givenTo(id), (contents) => {
        const { claim_id, runner, owned, calls } = readGiven(contents);
        if (calls) options.consumer(runner)?.run(begin(calls));
        else void bring(runner, claim_id, owned).catch(() => {});
      });
    },
    adopt: (mine) => {
      for (const { claim_id, runner, owned } of mine)
        if (!receipts.knows(claim_id)) void bring(runner, claim_id, owned).catch(() => {});
    },
  };
}

/** An answer that comes when the lease may have ended must not begin anything: the receipts are others' by then. */
async function inTime(lease_ms: number, take: () => Promise<Claimed[]>): Promise<Claimed[]> {
  const asked = performance.now();
  const calls = await take();
  return performance.now() - asked < lease_ms ? calls : [];
}
