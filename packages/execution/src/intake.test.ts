import { commonText, createLog, givenTo, openBackbone, ownText } from '@capstan/backbone';
import type { Consumer, Start } from '@capstan/queue';
import type { Store } from '@capstan/store';
import type { Claimed } from '@capstan/store/claim';
import type { NewInvocation } from '@capstan/store/invocation';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { handOver } from '../../../packages/store/src/testing/hand-over.js';
import { liveWorker } from '../../../packages/store/src/testing/live-worker.js';
import { manyInvocations, newInvocation } from '../../../packages/store/src/testing/new-invocation.js';
import { openTestStore } from '../../../packages/store/src/testing/open-test-store.js';
import { Intake, Receipts } from './intake.js';

let store: Store;
beforeAll(async () => {
  store = await openTestStore();
});

type Given = { lease_ms?: number; failures?: Error[] };

/** An intake whose calls begin when the test gives them a slot. `failures`: what Postgres answers at first. */
async function openIntake({ lease_ms = 30_000, failures = [] }: Given = {}) {
  const backbone = await openBackbone({
    database_url: store.url,
    name: 'intake',
    connections: 3,
    log: createLog('test', 'silent'),
  });
  onTestFinished(() => backbone.close());
  const state = { worker_id: await liveWorker(store), alive: true, asked: 0 };
  const failing: Store = {
    ...backbone.store,
    query: (statement, values) => {
      state.asked += 1;
      const failure = failures.shift();
      return failure ? Promise.reject(failure) : backbone.store.query(statement, values);
    },
  };
  const starts: Start[] = [];
  const begun: Claimed[] = [];
  let brought = () => {};
  const consumer: Consumer = {
    run: (some) => {
      starts.push(...some);
      brought();
    },
    pause: () => {},
    resume: () => {},
    offered: () => 0,
    hasRoom: () => true,
    stop: () => Promise.resolve(),
  };
  const receipts = new Receipts(60_000);
  const intake = new Intake(
    { ...backbone, store: failing },
    {
      worker_id: () => state.worker_id,
      lease_ms,
      receipts,
      isAlive: () => state.alive,
      run: async (claimed) => void begun.push(claimed),
      consumer: () => consumer,
    },
  );
  intake.receiveAs(state.worker_id);
  return {
    state,
    starts,
    begun,
    receipts,
    intake,
    source: intake.sourceOf('exec', () => {}),
    /** The message that accompanies the commit, addressed to the worker with this name. */
    tell: (message: object) => backbone.relay.receiverHere(givenTo(state.worker_id))?.(JSON.stringify(message)),
    untilBrought: (count: number) =>
      new Promise<void>((resolve) => {
        brought = () => {
          if (starts.length >= count) resolve();
        };
        brought();
      }),
    beginAll: () => Promise.all(starts.splice(0).map((start) => start())),
  };
}

const messageWith = (claim_id: string, rows: NewInvocation[]) => {
  const [first] = rows;
  const common = first ? JSON.parse(commonText(first)) : null;
  const calls = rows.map((row) => JSON.parse(ownText(row)));
  return { claim_id, runner: 'exec', owned: true, common, calls };
};
const ownerOf = async (claim_id: string) => {
  const text = 'SELECT worker_id, owned_at IS NOT NULL AS owned FROM claims WHERE claim_id = $1';
  const [owner] = await store.query<{ worker_id: string | null; owned: boolean }>({ name: 'owner-of', text }, [
    claim_id,
  ]);
  return owner;
};
const idsOf = (calls: readonly Claimed[]) => calls.map(({ invocation_id }) => invocation_id);

describe('calls that are handed over with their commit', () => {
  test('are begun as the message has them, which is as Postgres has them', async () => {
    const { state, begun, tell, beginAll } = await openIntake();
    const rows = manyInvocations(2, { inputs: { text: 'ü "quoted" \u0000' }, labels: { a: 'b' } });
    const { receipt } = await handOver(store, { worker_id: state.worker_id, owned: true }, rows);
    tell(messageWith(receipt.claim_id, rows));
    await beginAll();
    const other = await openIntake();
    other.state.worker_id = state.worker_id;
    other.intake.adopt([{ claim_id: receipt.claim_id, runner: 'exec', owned: true }]);
    await other.untilBrought(2);
    await other.beginAll();
    // These did not wait.
    expect(begun).toEqual(other.begun.map(({ waited_s: _, ...claimed }) => claimed));
  });

  test('begin once although the heartbeat names their receipt, too', async () => {
    const { state, begun, starts, receipts, tell, intake, beginAll } = await openIntake();
    const rows = manyInvocations(2);
    const { receipt, ids } = await handOver(store, { worker_id: state.worker_id, owned: true }, rows);
    const { claim_id } = receipt;
    tell(messageWith(claim_id, rows));
    intake.adopt([{ claim_id, runner: 'exec', owned: true }]);
    tell(messageWith(claim_id, rows));
    await beginAll();
    expect(idsOf(begun)).toEqual(ids);
    for (const id of ids) receipts.settled(claim_id, id);
    tell(messageWith(claim_id, rows));
    expect(starts).toEqual([]);
  });

  test('are found by the heartbeat when the message was lost, and begin once when it comes after all', async () => {
    const { state, begun, starts, tell, intake, untilBrought, beginAll } = await openIntake();
    const rows = manyInvocations(2);
    const { receipt, ids } = await handOver(store, { worker_id: state.worker_id, owned: true }, rows);
    intake.adopt([{ claim_id: receipt.claim_id, runner: 'exec', owned: true }]);
    await untilBrought(2);
    tell(messageWith(receipt.claim_id, rows));
    expect(starts).toHaveLength(2);
    await beginAll();
    expect(idsOf(begun)).toEqual(ids);
  });

  test('are looked up when they are too large for the message', async () => {
    const { state, begun, tell, untilBrought, beginAll } = await openIntake();
    const { receipt, ids } = await handOver(store, { worker_id: state.worker_id, owned: true });
    tell({ claim_id: receipt.claim_id, runner: 'exec', owned: true });
    await untilBrought(1);
    await beginAll();
    expect(idsOf(begun)).toEqual(ids);
  });

  test('that may not be repeated are owned when their slot is free, and not before', async () => {
    const { state, begun, tell, untilBrought, beginAll } = await openIntake();
    const rows = [newInvocation({ idempotent: false })];
    const { receipt, ids } = await handOver(store, { worker_id: state.worker_id, owned: false }, rows);
    tell({ claim_id: receipt.claim_id, runner: 'exec', owned: false });
    await untilBrought(1);
    expect(await ownerOf(receipt.claim_id)).toEqual({ worker_id: state.worker_id, owned: false });
    await beginAll();
    expect(await ownerOf(receipt.claim_id)).toEqual({ worker_id: state.worker_id, owned: true });
    expect(idsOf(begun)).toEqual(ids);
  });

  test('that were taken back while they waited for a slot are not begun', async () => {
    const { state, begun, tell, untilBrought, beginAll } = await openIntake();
    const { receipt } = await handOver(store, { worker_id: state.worker_id, owned: false });
    tell({ claim_id: receipt.claim_id, runner: 'exec', owned: false });
    await untilBrought(1);
    await store.db.deleteFrom('claims').where('claim_id', '=', receipt.claim_id).execute();
    await beginAll();
    expect(begun).toEqual([]);
  });

  test('that waited for a slot when the lease was lost are not begun', async () => {
    const { state, begun, starts, tell, intake, beginAll } = await openIntake();
    const rows = manyInvocations(2);
    const { receipt } = await handOver(store, { worker_id: state.worker_id, owned: true }, rows);
    tell(messageWith(receipt.claim_id, rows));
    expect(starts).toHaveLength(2);
    state.worker_id = await liveWorker(store);
    intake.receiveAs(state.worker_id);
    await beginAll();
    expect(begun).toEqual([]);
  });

  test('are not heard any more under an id that the worker has given up', async () => {
    const { state, starts, intake, tell } = await openIntake();
    const given_up = state.worker_id;
    state.worker_id = await liveWorker(store);
    intake.receiveAs(state.worker_id);
    const rows = [newInvocation()];
    state.worker_id = given_up;
    tell(messageWith('clm_1', rows));
    expect(starts).toEqual([]);
  });
});

describe('a receipt that the queue brings', () => {
  test('is begun by one of the workers that it is brought to', async () => {
    const [one, other] = [await openIntake(), await openIntake()];
    const { receipt, ids } = await handOver(store, {}, manyInvocations(3));
    const brought = await Promise.all([one, other, one].map(({ source }) => source.own(receipt.claim_id)));
    await Promise.all(brought.flat().map((start) => start()));
    expect(idsOf([...one.begun, ...other.begun])).toEqual(ids);
  });

  test('begins nothing when the answer comes later than the lease', async () => {
    const { state, source, receipts } = await openIntake({ lease_ms: 0 });
    const { receipt } = await handOver(store);
    expect(await source.own(receipt.claim_id)).toEqual([]);
    expect(await source.claim(10)).toEqual([]);
    // This worker owns it in Postgres, so its heartbeat or its end returns it.
    expect(await ownerOf(receipt.claim_id)).toEqual({ worker_id: state.worker_id, owned: true });
    expect(receipts.knows(receipt.claim_id)).toBe(false);
  });

  test('is owned once Postgres is back', async () => {
    const away = Object.assign(new Error('the database system is shutting down'), { code: '57P03' });
    const { state, source } = await openIntake({ failures: [away, away] });
    const { receipt } = await handOver(store);
    expect(await source.own(receipt.claim_id)).toHaveLength(1);
    expect(state.asked).toBe(3);
  });

  test('is left alone when Postgres is away and the worker ends', async () => {
    const away = Object.assign(new Error('the database system is shutting down'), { code: '57P03' });
    const { state, source } = await openIntake({ failures: [away] });
    state.alive = false;
    const { receipt } = await handOver(store);
    expect(await source.own(receipt.claim_id)).toEqual([]);
    expect(await ownerOf(receipt.claim_id)).toEqual({ worker_id: null, owned: false });
  });

  test('is not asked for again when Postgres refuses the question', async () => {
    const { state, source } = await openIntake({ failures: [new Error('a column does not exist')] });
    await expect(source.own('clm_1')).rejects.toThrow('a column does not exist');
    expect(state.asked).toBe(1);
  });
});
