import { offerOf } from '@capstan/queue';
import type { HandOver, NewInvocation } from '@capstan/store/invocation';
import { MAX_PAYLOAD_BYTES } from '@capstan/store/signal';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { memoryRelay } from '../../queue/src/testing/memory-relay.js';
import { manyInvocations, newInvocation } from '../../store/src/testing/new-invocation.js';
import { postgresDispatcher } from './dispatchers.js';
import { givenTo, readGiven } from './given.js';

/** A dispatcher that has heard what these workers offer. */
function openDispatcher(...offers: string[]) {
  const relay = memoryRelay({ rides: true });
  const dispatcher = postgresDispatcher(relay);
  relay.say('room', ...offers);
  return { relay, dispatcher };
}

/** Every message that rides on a receipt, as its worker reads it. */
const messagesOf = ({ worker_id, signals = [] }: HandOver) =>
  signals.map((signal) => {
    const address = givenTo(worker_id ?? '');
    expect(signal.startsWith(`${address} `)).toBe(true);
    return readGiven(signal.slice(address.length + 1));
  });
const idsOn = (receipts: readonly HandOver[]) => receipts.flatMap(({ ids }) => ids);
const idsOf = (rows: readonly NewInvocation[]) => rows.map(({ invocation_id }) => invocation_id);

afterEach(() => void vi.useRealTimers());

describe('what is handed to a worker with its commit', () => {
  test('is nothing while no worker offers slots; the commit signals that its runner type is ready', () => {
    const { relay, dispatcher } = openDispatcher(offerOf('wrk_1', 'builtin', 5));
    const plan = dispatcher.plan(manyInvocations(3, { runner: 'exec' }));
    expect([plan.hand_over, plan.signals]).toEqual([[], ['ready exec']]);
    plan.committed([]);
    expect(relay.published).toEqual([]);
  });

  test('is as much as workers offer; the rest waits', () => {
    const { dispatcher } = openDispatcher(offerOf('wrk_1', 'exec', 2));
    const rows = manyInvocations(3);
    const first = dispatcher.plan(rows);
    expect(idsOn(first.hand_over)).toEqual(idsOf(rows.slice(0, 2)));
    expect(first.signals).toEqual(['ready exec']);
    expect(dispatcher.plan([newInvocation()]).hand_over).toEqual([]);
  });

  test('goes to the workers that offer most', () => {
    const { dispatcher } = openDispatcher(offerOf('wrk_1', 'exec', 2), offerOf('wrk_2', 'exec', 4));
    const { hand_over, signals } = dispatcher.plan(manyInvocations(6));
    const sizes = new Map(hand_over.map(({ worker_id, ids }) => [worker_id, ids.length]));
    expect([sizes.get('wrk_1'), sizes.get('wrk_2'), signals]).toEqual([2, 4, []]);
  });

  test.each<{ what: string; given: Partial<NewInvocation> }>([
    { what: 'has an idempotency key, which may be known', given: { idempotency_key: 'key' } },
    { what: 'expires', given: { expires_in_ms: 1000 } },
    { what: 'comes under a quota', given: { quota_scopes: ['tenant:acme'] } },
  ])('is no call that $what', ({ given }) => {
    const { dispatcher } = openDispatcher(offerOf('wrk_1', 'exec', 5));
    const { hand_over, signals } = dispatcher.plan([newInvocation(given)]);
    expect([hand_over, signals]).toEqual([[], ['ready exec']]);
  });

  test.each(['held', 'deferred', 'denied'] as const)('is never a %s call, and no worker is woken for it', (status) => {
    const { dispatcher } = openDispatcher(offerOf('wrk_1', 'exec', 5));
    const { hand_over, signals } = dispatcher.plan([newInvocation({ status })]);
    expect([hand_over, signals]).toEqual([[], []]);
  });

  test('starts at once if it is idempotent, with everything that its worker needs', () => {
    const { dispatcher } = openDispatcher(offerOf('wrk_1', 'exec', 5));
    const row = newInvocation({ inputs: { text: 'ü "quoted"' }, labels: { a: 'b' }, retry_backoff_ms: 5 });
    const [receipt] = dispatcher.plan([row]).hand_over;
    if (!receipt) throw new Error('nothing was handed over');
    expect(receipt).toMatchObject({ worker_id: 'wrk_1', owned: true, ids: [row.invocation_id] });
    const [message] = messagesOf(receipt);
    const { invocation_id, inputs, input_hash, tenant, labels, policy_hash } = row;
    expect(message).toMatchObject({ claim_id: receipt.claim_id, owned: true });
    expect(message?.calls).toMatchObject([
      { invocation_id, inputs, input_hash, tenant, labels, policy_hash, attempt: 1, retry_backoff_ms: 5 },
    ]);
  });

  test('must be owned first if it is not idempotent, and is sent without its inputs', () => {
    const { dispatcher } = openDispatcher(offerOf('wrk_1', 'exec', 5));
    const rows = manyInvocations(2, { idempotent: false, inputs: { text: 'CANARY' } });
    const { hand_over } = dispatcher.plan(rows);
    expect(hand_over.map(({ owned, ids }) => [owned, ids.length])).toEqual([
      [false, 1],
      [false, 1],
    ]);
    expect(hand_over.flatMap(messagesOf)).toMatchObject([{ owned: false, calls: null }, { calls: null }]);
    expect(JSON.stringify(hand_over)).not.toContain('CANARY');
  });

  test.each(['a', 'ü', '\u0000'])('fits into the messages that Postgres accepts if inputs are full of %j', (letter) => {
    const { dispatcher } = openDispatcher(offerOf('wrk_1', 'exec', 100));
    const rows = manyInvocations(40, { inputs: { text: letter.repeat(700) } });
    const { hand_over } = dispatcher.plan(rows);
    expect(hand_over.length).toBeGreaterThan(1);
    for (const signal of hand_over.flatMap(({ signals = [] }) => signals))
      expect(Buffer.byteLength(signal)).toBeLessThanOrEqual(MAX_PAYLOAD_BYTES);
    const told = hand_over.flatMap(messagesOf).flatMap(({ calls }) => calls?.map((call) => call.invocation_id) ?? []);
    expect(told.sort()).toEqual(idsOf(rows).sort());
  });

  test('is loaded by its worker if it is too large for a message', () => {
    const { dispatcher } = openDispatcher(offerOf('wrk_1', 'exec', 5));
    const { hand_over } = dispatcher.plan([newInvocation({ inputs: { text: 'x'.repeat(MAX_PAYLOAD_BYTES) } })]);
    expect(hand_over.flatMap(messagesOf)).toMatchObject([{ owned: true, calls: null }]);
  });

  test('has at most 100 calls on a receipt', () => {
    const { dispatcher } = openDispatcher(offerOf('wrk_1', 'builtin', 500));
    const { hand_over } = dispatcher.plan(manyInvocations(250, { runner: 'builtin', inputs: {} }));
    expect(idsOn(hand_over)).toHaveLength(250);
    expect(Math.max(...hand_over.map(({ ids }) => ids.length))).toBeLessThanOrEqual(100);
  });

  test('never mixes calls of different tenants on one receipt', () => {
    const { dispatcher } = openDispatcher(offerOf('wrk_1', 'exec', 5));
    const rows = [newInvocation({ tenant: 'acme' }), newInvocation({ tenant: 'other' })];
    const calls = dispatcher
      .plan(rows)
      .hand_over.flatMap(messagesOf)
      .flatMap((message) => message.calls ?? []);
    expect(calls.map(({ invocation_id, tenant }) => [invocation_id, tenant])).toEqual(
      rows.map(({ invocation_id, tenant }) => [invocation_id, tenant]),
    );
  });
});

describe('after the commit', () => {
  test('workers are woken for a receipt that Postgres refused to write', () => {
    const { relay, dispatcher } = openDispatcher(offerOf('wrk_1', 'exec', 5));
    dispatcher.plan([newInvocation()]).committed([]);
    expect(relay.published).toEqual([{ topic: 'ready', ids: ['exec'] }]);
  });

  test('no signal follows for a receipt that was written', () => {
    const { relay, dispatcher } = openDispatcher(offerOf('wrk_1', 'exec', 5));
    const plan = dispatcher.plan([newInvocation()]);
    plan.committed(plan.hand_over.map(({ claim_id }) => claim_id));
    expect(relay.published).toEqual([]);
  });

  test('a worker in the same process is called directly, and only for receipts that were written', () => {
    const { relay, dispatcher } = openDispatcher(offerOf('wrk_1', 'exec', 5));
    const heard: string[] = [];
    relay.receive(givenTo('wrk_1'), (contents) => heard.push(contents));
    const [refused, written] = [dispatcher.plan([newInvocation()]), dispatcher.plan([newInvocation()])];
    expect([...refused.hand_over, ...written.hand_over].flatMap(({ signals }) => signals)).toEqual([]);
    refused.committed([]);
    expect(heard).toEqual([]);
    written.committed(written.hand_over.map(({ claim_id }) => claim_id));
    expect(heard.map((contents) => readGiven(contents).claim_id)).toEqual([written.hand_over[0]?.claim_id]);
  });

  test('a retry wakes workers when its backoff has passed, unless the process ends first', () => {
    vi.useFakeTimers();
    const { relay, dispatcher } = openDispatcher();
    dispatcher.wakeAfter('exec', 500);
    vi.advanceTimersByTime(500);
    expect(relay.published).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(relay.published).toEqual([{ topic: 'ready', ids: ['exec'] }]);
    dispatcher.wakeAfter('exec', 500);
    dispatcher.close();
    expect([vi.getTimerCount(), relay.listening()]).toEqual([0, 0]);
  });
});
