import type { RunnerType } from '@capstan/contracts';
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { InvocationCounts } from './invocations.js';
import { get } from './request.js';

export type StatsPoint = {
  t: string;
  count: number;
  failed: number;
  wait_p50_ms: number | null;
  wait_p95_ms: number | null;
  run_p50_ms: number | null;
  run_p95_ms: number | null;
};
export type Stats = { step_s: number; series: { runner?: RunnerType; points: StatsPoint[] }[] };
export type StatsNow = {
  runners: {
    runner: RunnerType;
    paused: boolean;
    queued: number;
    running: number;
    oldest_waiting_at: string | null;
    workers: number;
    slots: number;
  }[];
  holds: { pending: number; expiring: number };
};

const MINUTE_MS = 60_000;

/** Starts at the full minute, so that charts within one minute share a response. */
export const statsQuery = (span_ms: number, by: 'runner' | 'status') =>
  queryOptions({
    queryKey: ['stats', 'series', span_ms, by],
    queryFn: ({ signal }) => {
      const until = Math.ceil(Date.now() / MINUTE_MS) * MINUTE_MS;
      const since = new Date(until - span_ms).toISOString();
      return get<Stats>('/v1/stats', { since, until: new Date(until).toISOString(), by }, signal);
    },
    placeholderData: keepPreviousData,
    refetchInterval: 20_000,
    staleTime: 5000,
  });

export const nowQuery = queryOptions({
  queryKey: ['stats', 'now'],
  queryFn: ({ signal }) => get<StatsNow>('/v1/stats/now', {}, signal),
  placeholderData: keepPreviousData,
  refetchInterval: 10_000,
});

/** The number of calls whose outcome a person has to find out. */
export const ambiguousQuery = queryOptions({
  queryKey: ['ambiguous'],
  queryFn: async ({ signal }) =>
    (await get<InvocationCounts>('/v1/invocations/counts', { status: ['ambiguous'] }, signal)).total,
  refetchInterval: 30_000,
});
