import type { Options } from '../options.js';
import type { Line } from './comparison.js';

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const at_least = (redis: number, postgres: number) => ({ target: { bound: 'at_least', redis, postgres } }) as const;
const at_most = (redis: number, postgres: number) => ({ target: { bound: 'at_most', redis, postgres } }) as const;

const TO_RAW = { compared_with: { others: ['bullmq'] } } as const;
const TO_DURABLE = { compared_with: { others: ['graphile', 'pgboss'] } } as const;
const RATE = { figure: 'per_second' } as const;

/** The lines of the report that compare, with what is wanted. */
export function linesOf({ waiting, snapshot_seconds }: Pick<Options, 'waiting' | 'snapshot_seconds'>): Line[] {
  return [
    { label: 'lone call, p50', shape: 'lone', figure: 'p50_ms', ...TO_RAW, ...at_most(4, 3) },
    { label: 'lone call, p99', shape: 'lone', figure: 'p99_ms', ...TO_RAW },
    { label: '50 in flight', shape: 'in_flight_50', ...RATE, ...TO_RAW, ...at_least(0.5, 0.6) },
    { label: '  to the faster durable queue', shape: 'in_flight_50', ...RATE, ...TO_DURABLE, ...at_least(2, 2) },
    { label: '500 in flight', shape: 'in_flight_500', ...RATE, ...TO_RAW, ...at_least(0.85, 0.9) },
    { label: 'bulk', shape: 'bulk', ...RATE, ...TO_RAW, ...at_least(1, 1) },
    {
      ...{ label: '  to pg-boss', shape: 'bulk', ...RATE },
      ...{ compared_with: { others: ['pgboss'] }, ...at_least(1, 1) },
    },
    {
      ...{ label: '50 in flight, sealing', shape: 'with_sealing', ...RATE },
      ...{ compared_with: { own: 'without_sealing' }, ...at_least(0.9, 0.9) },
    },
    {
      ...{ label: `50 in flight, snapshot held ${snapshot_seconds} s`, shape: 'pinned_snapshot', ...RATE },
      ...{ compared_with: { own: 'before_snapshot' }, ...at_least(0.9, 0.9) },
    },
    {
      label: `finished, ${whole.format(waiting)} waiting`,
      ...{ shape: 'behind_waiting', figure: 'finished_per_second' },
      ...{ compared_with: { own: 'bulk' }, ...at_least(0.9, 0.9) },
    },
    { label: '  of these, 50 in flight', shape: 'behind_waiting', ...RATE, compared_with: null },
  ];
}
