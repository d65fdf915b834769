import { type Delivery, RUNNER_TYPES, type RunnerType } from '@capstan/contracts';
import { describe, expect, test } from 'vitest';
import { MAX_SIZE, packEnvelopes } from './envelope.js';

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
  test('travel together', () => {
    const envelopes = packed(numbered(3), 'builtin');
    expect(envelopes.map((one) => one.envelope)).toEqual([{ size: 3 }]);
  });

  test('are split when there are too many, and none is lost', () => {
    const envelopes = packed(numbered(2 * MAX_SIZE + 1), 'builtin');
    expect(envelopes.map((one) => one.envelope.size)).toEqual([MAX_SIZE, MAX_SIZE, 1]);
  });

  test('of different delays travel apart', () => {
    const envelopes = packed([delivery('a'), delivery('c', { delay_ms: 5 }), delivery('d')], 'builtin');
    expect(envelopes.map((one) => [one.envelope.size, one.delay])).toEqual([
      [2, 0],
      [1, 5],
    ]);
  });
});

describe('deliveries of long runs', () => {
  test('travel alone, each under a name that its attempt makes', () => {
    const envelopes = packed(
      [delivery('inv_a', { runner: 'exec' }), delivery('inv_a', { runner: 'exec', attempt: 1 })],
      'exec',
    );
    expect(envelopes.map((one) => one.jobId)).toEqual(['inv_a.0', 'inv_a.1']);
    expect(envelopes.map((one) => one.envelope)).toEqual([{ size: 1 }, { size: 1 }]);
  });
});

test('every runner type keeps to its own queue', () => {
  const deliveries = RUNNER_TYPES.map((runner) => delivery(`inv_${runner}`, { runner }));
  const queues = [...packEnvelopes(deliveries)].map(([runner, envelopes]) => [runner, envelopes[0]?.envelope.size]);
  expect(queues).toEqual(RUNNER_TYPES.map((runner) => [runner, 1]));
});

test('a delay is never cut short by rounding', () => {
  expect(packed([delivery('a', { runner: 'exec', delay_ms: 10.2 })], 'exec')[0]?.delay).toBe(11);
});

test('nothing of the invocation itself is in an envelope', () => {
  const more = { ...delivery('inv_a', { runner: 'exec' }), inputs: { secret: 'canary' } };
  expect(JSON.stringify(packed([more], 'exec'))).not.toContain('canary');
});
