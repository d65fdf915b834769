import { type Delivery, RUNNER_TYPES, type RunnerType } from '@capstan/contracts';
import { describe, expect, test } from 'vitest';
import { MAX_IDS, packEnvelopes, slotsFor } from './envelope.js';

const delivery = (invocation_id: string, given: Partial<Delivery> = {}): Delivery => ({
  invocation_id,
  runner: 'builtin',
  attempt: 0,
  priority: 0,
  ...given,
});
const numbered = (count: number, given: Partial<Delivery> = {}) =>
  Array.from({ length: count }, (_, index) => delivery(`inv_${index}`, given));
const packed = (deliveries: Delivery[], runner: RunnerType) => packEnvelopes(deliveries).get(runner) ?? [];

describe('deliveries of short runs', () => {
  test('of one priority travel together, in order', () => {
    const envelopes = packed(numbered(3), 'builtin');
    expect(envelopes.map((one) => one.envelope)).toEqual([{ ids: ['inv_0', 'inv_1', 'inv_2'] }]);
  });

  test('are split when there are too many, and none is lost', () => {
    const envelopes = packed(numbered(2 * MAX_IDS + 1), 'builtin');
    expect(envelopes.map((one) => one.envelope.ids.length)).toEqual([MAX_IDS, MAX_IDS, 1]);
    expect(envelopes.flatMap((one) => one.envelope.ids)).toEqual(
      numbered(2 * MAX_IDS + 1).map((one) => one.invocation_id),
    );
  });

  test('of different priorities or delays travel apart', () => {
    const envelopes = packed(
      [delivery('a'), delivery('b', { priority: -1 }), delivery('c', { delay_ms: 5 }), delivery('d')],
      'builtin',
    );
    expect(envelopes.map((one) => one.envelope.ids)).toEqual([['a', 'd'], ['b'], ['c']]);
  });
});

describe('deliveries of long runs', () => {
  test('travel alone, each under a name that its attempt makes', () => {
    const envelopes = packed(
      [delivery('inv_a', { runner: 'exec' }), delivery('inv_a', { runner: 'exec', attempt: 1 })],
      'exec',
    );
    expect(envelopes.map((one) => one.jobId)).toEqual(['inv_a.0', 'inv_a.1']);
    expect(envelopes.map((one) => one.envelope)).toEqual([{ ids: ['inv_a'] }, { ids: ['inv_a'] }]);
  });
});

test('every runner type keeps to its own queue', () => {
  const deliveries = RUNNER_TYPES.map((runner) => delivery(`inv_${runner}`, { runner }));
  const queues = [...packEnvelopes(deliveries)].map(([runner, envelopes]) => [runner, envelopes[0]?.envelope.ids]);
  expect(queues).toEqual(RUNNER_TYPES.map((runner) => [runner, [`inv_${runner}`]]));
});

test('all priorities are ones that BullMQ takes, in the same order', () => {
  const priorities = [-1_000_000, -1, 0, 1, 1_000_000];
  const given = packed(
    priorities.map((priority) => delivery('inv', { runner: 'exec', priority })),
    'exec',
  );
  const bull = given.map((one) => one.priority);
  expect(bull).toEqual(bull.toSorted((a, b) => a - b));
  expect(Math.min(...bull)).toBeGreaterThanOrEqual(1);
  expect(Math.max(...bull)).toBeLessThanOrEqual(2 ** 21);
});

test('a delay is never cut short by rounding', () => {
  expect(packed([delivery('a', { runner: 'exec', delay_ms: 10.2 })], 'exec')[0]?.delay).toBe(11);
});

test('nothing but ids and routing is in an envelope', () => {
  const more = { ...delivery('inv_a', { runner: 'exec' }), inputs: { secret: 'canary' } };
  expect(JSON.stringify(packed([more], 'exec'))).not.toContain('canary');
});

test.each(RUNNER_TYPES)('the slots of %s never add up to more than the concurrency, and always to one', (runner) => {
  for (let concurrency = 1; concurrency <= 130; concurrency += 1) {
    const { jobs, ids } = slotsFor(runner, concurrency);
    expect(jobs * ids).toBeLessThanOrEqual(concurrency);
    expect(Math.min(jobs, ids)).toBeGreaterThanOrEqual(1);
  }
});
