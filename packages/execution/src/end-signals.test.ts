import { createRelay } from '@capstan/queue';
import { toRfc3339 } from '@capstan/store';
import { ENDED, type Settlement, settleClaims } from '@capstan/store/claim';
import { MAX_PAYLOAD_BYTES, PostgresSignals } from '@capstan/store/signal';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { memoryRelay } from '../../../packages/queue/src/testing/memory-relay.js';
import { newSettlement } from '../../../packages/store/src/testing/new-settlement.js';
import { openTestStore } from '../../../packages/store/src/testing/open-test-store.js';
import { startOne } from '../../../packages/store/src/testing/run-one.js';
import type { Ending } from './settler.js';
import { endSignals } from './settler.js';
import { newClaimed } from './testing/new-claimed.js';

type Given = Partial<Pick<Settlement, 'status' | 'run_id'>> & { payload?: string; followed?: boolean };

const endingOf = (
  invocation_id: string,
  { status = 'succeeded', payload = 'small', followed = false, run_id = null }: Given = {},
) => ({
  settlement: newSettlement(newClaimed({ invocation_id, run_id }), { status, result: { payload } }),
  followed,
});
const manyEndings = (count: number, given: Given = {}): Ending[] =>
  Array.from({ length: count }, (_, index) => endingOf(`inv_${index}`, given));
const LARGE = 'x'.repeat(MAX_PAYLOAD_BYTES);
/** The text that Postgres adds to a message when it is sent. */
const TIME_BYTES = ' 2026-11-17T12:00:00.000000+00:00'.length;

const outcomesIn = (messages: readonly string[]) =>
  messages
    .filter((message) => message.startsWith(`${ENDED} `))
    .flatMap((message) => JSON.parse(message.slice(ENDED.length + 1)));

describe('the signals of a statement that ends calls', () => {
  test('carry all results in one message if they fit', () => {
    const { signals } = endSignals(memoryRelay({ rides: true }), manyEndings(3), []);
    expect(signals.all).toHaveLength(1);
    expect(outcomesIn(signals.all)).toMatchObject([
      { invocation_id: 'inv_0', status: 'succeeded', attempt: 1, result: { success: true, payload: 'small' } },
      { invocation_id: 'inv_1' },
      { invocation_id: 'inv_2' },
    ]);
  });

  test.each(['a', 'ü', '\u0000'])('keeps every message within what Postgres takes, of results full of %j', (letter) => {
    const endings = manyEndings(40, { payload: letter.repeat(600) });
    const { signals } = endSignals(memoryRelay({ rides: true }), endings, []);
    expect(signals.all.length).toBeGreaterThan(1);
    for (const message of signals.all) expect(Buffer.byteLength(message) + TIME_BYTES).toBeLessThan(8000);
    expect(outcomesIn(signals.all)).toHaveLength(40);
  });

  test('carry only the id of a result that is too large for a message', () => {
    const endings = [endingOf('inv_1'), endingOf('inv_large', { payload: LARGE })];
    const { signals } = endSignals(memoryRelay({ rides: true }), endings, []);
    expect(outcomesIn(signals.all)).toMatchObject([{ invocation_id: 'inv_1' }]);
    expect(signals.all).toContain('settled inv_large');
    expect(signals.all.join()).not.toContain('xxx');
  });

  test('carry only the ids of calls that belong to a run', () => {
    const endings = [endingOf('inv_1'), ...['inv_2', 'inv_3'].map((id) => endingOf(id, { run_id: 'run_1' }))];
    const { signals } = endSignals(memoryRelay({ rides: true }), endings, []);
    expect(outcomesIn(signals.all)).toMatchObject([{ invocation_id: 'inv_1' }]);
    expect(signals.all).toContain('settled inv_2 inv_3');
  });

  test('carry only ids if part of the batch is refused', () => {
    const { signals } = endSignals(memoryRelay({ rides: true }), manyEndings(2), []);
    expect(signals.some).toEqual(['settled inv_0 inv_1']);
  });

  test('name to the coordinator only the calls that it follows, and to gateways the slots that the worker offers', () => {
    const endings = [endingOf('inv_1'), endingOf('inv_2', { followed: true })];
    const { signals } = endSignals(memoryRelay({ rides: true }), endings, ['wrk_1/builtin/4']);
    for (const said of [signals.all, signals.some])
      expect(said).toEqual(expect.arrayContaining(['followed inv_2', 'room wrk_1/builtin/4']));
  });

  test.each(['queued', 'held'] as const)('has nothing of a call that goes back as %s', (status) => {
    const { signals } = endSignals(memoryRelay({ rides: true }), [endingOf('inv_1', { status, followed: true })], []);
    expect(signals).toEqual({ all: [], some: [] });
  });

  test.each(['denied', 'ambiguous'] as const)('has no result of a call that ends %s', (status) => {
    const { signals } = endSignals(memoryRelay({ rides: true }), [endingOf('inv_1', { status })], []);
    expect(outcomesIn(signals.all)).toEqual([{ invocation_id: 'inv_1', status, attempt: 1, result: null }]);
  });
});

describe('where signals travel through Redis', () => {
  const endings = [endingOf('inv_1'), endingOf('inv_large', { payload: LARGE, followed: true })];
  const done = { status: 'succeeded' } as const;

  test('results ride on the statement alone, and Redis carries the ids of large ones', () => {
    const relay = memoryRelay();
    const { signals, publishRest } = endSignals(relay, endings, []);
    expect(outcomesIn(signals.all)).toMatchObject([{ invocation_id: 'inv_1' }]);
    expect([signals.all.length, signals.some]).toEqual([1, []]);
    expect(relay.published).toEqual([]);
    publishRest([done, done]);
    expect(relay.published).toEqual([
      { topic: 'settled', ids: ['inv_large'] },
      { topic: 'followed', ids: ['inv_large'] },
    ]);
  });

  test('Redis carries all ids if part of the batch was refused, because no result was sent', () => {
    const relay = memoryRelay();
    endSignals(relay, endings, []).publishRest([done, null]);
    expect(relay.published[0]).toEqual({ topic: 'settled', ids: ['inv_1', 'inv_large'] });
  });
});

describe('on Postgres', () => {
  let store: Awaited<ReturnType<typeof openTestStore>>;
  beforeAll(async () => {
    store = await openTestStore();
  });

  test('a batch with a refused settlement sends ids, and one without sends results and when they ended', async () => {
    const relay = createRelay(new PostgresSignals(store, () => {}), {
      max_message_bytes: MAX_PAYLOAD_BYTES,
      onError: () => {},
    });
    onTestFinished(() => relay.close());
    const said: string[] = [];
    const listening = new Promise<void>((resolve) => {
      relay.subscribe('settled', (ids) => said.push(`settled ${ids.join(' ')}`), resolve);
    });
    relay.receive(ENDED, (contents) => said.push(contents));
    await listening;
    const settle = async (settlements: Settlement[]) => {
      const { signals } = endSignals(
        relay,
        settlements.map((settlement) => ({ settlement, followed: false })),
        [],
      );
      await settleClaims(store, settlements, () => true, signals);
    };
    const [one, other, third] = [await startOne(store), await startOne(store), await startOne(store)];
    await settle([newSettlement(one.claimed), newSettlement({ ...other.claimed, claim_id: 'clm_taken_away' })]);
    await settle([newSettlement(third.claimed)]);
    while (said.length < 2) await new Promise((resolve) => setImmediate(resolve));
    const ids = [one, other].map(({ claimed }) => claimed.invocation_id);
    expect(said[0]).toBe(`settled ${ids.join(' ')}`);
    const [at = '', contents = ''] = said[1]?.split(/ (.*)/s) ?? [];
    expect(Date.parse(toRfc3339(at))).not.toBeNaN();
    expect(JSON.parse(contents)).toMatchObject([{ invocation_id: third.claimed.invocation_id, status: 'succeeded' }]);
  });
});
