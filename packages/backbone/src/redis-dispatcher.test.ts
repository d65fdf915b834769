import type { QueueName } from '@capstan/contracts';
import { type Delivery, flowOf, offerOf, type Queue } from '@capstan/queue';
import type { NewInvocation } from '@capstan/store/invocation';
import { describe, expect, test } from 'vitest';
import { memoryRelay } from '../../queue/src/testing/memory-relay.js';
import { manyInvocations, newInvocation } from '../../store/src/testing/new-invocation.js';
import { redisDispatcher } from './dispatchers.js';
import { createLog } from './log.js';

/** `fails`: Redis cannot be reached. */
function openDispatcher({ fails = false } = {}) {
  const relay = memoryRelay();
  const delivered: Delivery[] = [];
  const unused = () => Promise.reject(new Error('not asked for here'));
  const queue: Queue = {
    kind: 'redis',
    deliver: async (deliveries) => {
      if (fails) throw new Error('Redis is away');
      delivered.push(...deliveries);
    },
    deliverAgain: unused,
    consume: () => {
      throw new Error('not asked for here');
    },
    counts: unused,
    ping: unused,
    mayHaveLost: unused,
    confirm: unused,
    close: unused,
  };
  const dispatcher = redisDispatcher({ queue, relay, log: createLog('test', 'silent') });
  /** Commits like a gateway, with all receipts written. */
  const commit = (rows: NewInvocation[]) => {
    const plan = dispatcher.plan(rows);
    plan.committed(plan.hand_over.map(({ claim_id }) => claim_id));
    return plan;
  };
  const ready = () => relay.published.filter(({ topic }) => topic === 'ready').map(({ ids }) => ids);
  return { relay, dispatcher, delivered, commit, ready };
}

const sizesOf = (delivered: readonly Delivery[]) => delivered.map(({ size }) => size);

describe('what goes to Redis with its commit', () => {
  test('is the id of a receipt without an owner, and its routing', () => {
    const { delivered, commit } = openDispatcher();
    const row = newInvocation({ priority: 3, inputs: { text: 'CANARY' } });
    const { hand_over } = commit([row]);
    expect(hand_over).toMatchObject([{ worker_id: null, owned: false, runner: 'exec', ids: [row.invocation_id] }]);
    expect(delivered).toEqual([
      { claim_id: hand_over[0]?.claim_id, runner: 'exec', size: 1, priority: 3, ahead: false },
    ]);
    expect(JSON.stringify(hand_over)).not.toContain('CANARY');
  });

  test.each<{ runner: QueueName; sizes: number[] }>([
    { runner: 'exec', sizes: [1, 1, 1] },
    { runner: 'builtin', sizes: [3] },
  ])('is a receipt for each long call, and one for short calls together: $runner', ({ runner, sizes }) => {
    const { delivered, commit } = openDispatcher();
    commit(manyInvocations(3, { runner }));
    expect(sizesOf(delivered)).toEqual(sizes);
  });

  test('has receipts with calls of one priority, 100 at most', () => {
    const { delivered, commit } = openDispatcher();
    commit([
      ...manyInvocations(150, { runner: 'builtin' }),
      ...manyInvocations(2, { runner: 'builtin', priority: -1 }),
    ]);
    expect(delivered.map(({ size, priority }) => [size, priority])).toEqual([
      [100, 0],
      [50, 0],
      [2, -1],
    ]);
  });

  test.each<{ what: string; given: Partial<NewInvocation> }>([
    { what: 'has an idempotency key', given: { idempotency_key: 'key' } },
    { what: 'expires', given: { expires_in_ms: 1000 } },
    { what: 'comes under a quota', given: { quota_scopes: ['tenant:acme'] } },
  ])('is no call that $what: it waits, and the coordinator is told', ({ given }) => {
    const { delivered, commit, ready } = openDispatcher();
    expect(commit([newInvocation(given)]).hand_over).toEqual([]);
    expect([delivered, ready()]).toEqual([[], [['exec']]]);
  });

  test.each(['held', 'deferred', 'denied'] as const)('is never a %s call, and no signal is sent for it', (status) => {
    const { delivered, commit, ready } = openDispatcher();
    commit([newInvocation({ status })]);
    expect([delivered, ready()]).toEqual([[], []]);
  });

  test('does not include a large submission, which waits in Postgres', () => {
    const { delivered, commit, ready } = openDispatcher();
    expect(commit(manyInvocations(201)).hand_over).toEqual([]);
    expect([delivered, ready()]).toEqual([[], [['exec']]]);
  });

  test('is nothing while calls of its runner type wait, until the coordinator opens the flow', () => {
    const { relay, commit, delivered } = openDispatcher();
    commit(manyInvocations(201));
    commit([newInvocation()]);
    expect(delivered).toEqual([]);
    commit([newInvocation({ runner: 'builtin' })]);
    expect(delivered).toMatchObject([{ runner: 'builtin' }]);
    relay.say('flow', flowOf('exec', true));
    commit([newInvocation()]);
    expect(delivered).toMatchObject([{ runner: 'builtin' }, { runner: 'exec' }]);
  });
});

describe('calls for which a worker offers slots', () => {
  test('are handed to it with their commit, and Redis delivers only the rest', () => {
    const { relay, commit, delivered } = openDispatcher();
    relay.say('room', offerOf('wrk_1', 'exec', 2));
    const { hand_over } = commit(manyInvocations(3));
    expect(hand_over.map(({ worker_id, ids }) => [worker_id, ids.length])).toEqual([
      ['wrk_1', 2],
      [null, 1],
    ]);
    expect(sizesOf(delivered)).toEqual([1]);
  });

  test('wait too while other calls of their runner type wait', () => {
    const { relay, commit, delivered } = openDispatcher();
    relay.say('room', offerOf('wrk_1', 'exec', 2));
    relay.say('flow', flowOf('exec', false));
    expect([commit([newInvocation()]).hand_over, delivered]).toEqual([[], []]);
  });

  test('wait in Postgres if the worker is gone by then, and the coordinator is signaled', () => {
    const { relay, dispatcher, delivered, ready } = openDispatcher();
    relay.say('room', offerOf('wrk_1', 'exec', 2));
    dispatcher.plan([newInvocation()]).committed([]);
    expect([delivered, ready()]).toEqual([[], [['exec']]]);
  });
});

describe('after the commit', () => {
  test('a receipt that Postgres refused to write is not delivered, and the coordinator is signaled', () => {
    const { dispatcher, delivered, ready } = openDispatcher();
    dispatcher.plan([newInvocation()]).committed([]);
    expect([delivered, ready()]).toEqual([[], [['exec']]]);
  });

  test('an outage of Redis fails no submission: the coordinator delivers later', async () => {
    const { dispatcher, commit, delivered } = openDispatcher({ fails: true });
    commit([newInvocation()]);
    await dispatcher.idle();
    expect(delivered).toEqual([]);
  });

  test('a closed dispatcher has no listener', () => {
    const { dispatcher, relay } = openDispatcher();
    dispatcher.close();
    expect(relay.listening()).toBe(0);
  });
});
