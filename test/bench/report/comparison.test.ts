import { expect, test } from 'vitest';
import type { Measurement } from '../findings.js';
import { compare, type Line } from './comparison.js';

const line: Line = {
  label: '50 in flight',
  shape: 'in_flight_50',
  figure: 'per_second',
  compared_with: { others: ['bullmq'] },
  target: { bound: 'at_least', redis: 0.5, postgres: 0.7 },
};

function measured(round: number, subject: Measurement['subject'], per_second: number): Measurement {
  return { round, subject, shape: 'in_flight_50', sample: { count: per_second, elapsed_ms: 1000 } };
}

test('a machine that slows down between rounds does not change the ratio', () => {
  const measurements = [
    ...[measured(1, 'bullmq', 9000), measured(1, 'redis', 5400)],
    ...[measured(2, 'bullmq', 3000), measured(2, 'redis', 1800)],
    ...[measured(3, 'bullmq', 6000), measured(3, 'redis', 3600)],
  ];
  expect(compare(measurements, line, 'redis')).toEqual({ median: 3600, ratio: 0.6, target: 0.5, met: true });
});

test('each queue has its own target', () => {
  const measurements = [measured(1, 'bullmq', 1000), measured(1, 'redis', 600), measured(1, 'postgres', 600)];
  expect(compare(measurements, line, 'redis').met).toBe(true);
  expect(compare(measurements, line, 'postgres').met).toBe(false);
});

test('a latency meets its target from below', () => {
  const slow: Line = { ...line, figure: 'p50_ms', target: { bound: 'at_most', redis: 4, postgres: 4 } };
  const lone = (subject: Measurement['subject'], p50_ms: number): Measurement => ({
    ...measured(1, subject, 1),
    sample: { count: 1, elapsed_ms: p50_ms, p50_ms },
  });
  expect(compare([lone('bullmq', 1), lone('redis', 3)], slow, 'redis').met).toBe(true);
  expect(compare([lone('bullmq', 1), lone('redis', 5)], slow, 'redis').met).toBe(false);
});

test('without raw in the run there is a figure and no verdict', () => {
  expect(compare([measured(1, 'redis', 600)], line, 'redis')).toEqual({
    median: 600,
    ratio: null,
    target: 0.5,
    met: null,
  });
});

test('beside several others, the fastest of each round is what counts', () => {
  const durable: Line = { ...line, compared_with: { others: ['graphile', 'pgboss'] } };
  const measurements = [
    ...[measured(1, 'graphile', 400), measured(1, 'pgboss', 300), measured(1, 'redis', 800)],
    ...[measured(2, 'graphile', 100), measured(2, 'pgboss', 200), measured(2, 'redis', 400)],
  ];
  expect(compare(measurements, durable, 'redis').ratio).toBe(2);
});

test('with others waiting, all that Capstan finished is compared with its own bulk', () => {
  const waiting: Line = {
    ...line,
    shape: 'behind_waiting',
    figure: 'finished_per_second',
    compared_with: { own: 'bulk' },
  };
  const load = measured(1, 'redis', 100);
  const measurements = [
    { ...measured(1, 'redis', 1000), shape: 'bulk' } as const,
    { ...load, shape: 'behind_waiting', sample: { ...load.sample, beside: 8 * load.sample.count } } as const,
  ];
  expect(compare(measurements, waiting, 'redis').ratio).toBeCloseTo(0.9);
});
