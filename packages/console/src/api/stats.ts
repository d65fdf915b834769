import type { Stats, StatsNow } from '@capstan/contracts';
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { get } from './request.js';

const MINUTE_MS = 60_000;

/** From the full minute, so that charts of one minute share an answer. */
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
