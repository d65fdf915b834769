import { Failure, Stats, StatsNow, StatsQuery } from '@capstan/contracts';
import { readStats, readStatsNow } from '@capstan/store/stats';
import type { z } from 'zod';
import { type Route, route } from '../http/route.js';

const ROLES: Route['roles'] = ['submit', 'operate', 'audit'];
const HOUR_S = 3600;
const MAX_POINTS = 1500;
const WANTED_POINTS = 120;
const MAX_SERIES = 50;
/** How long rollups by the minute are kept before the coordinator deletes them. */
const MINUTES_KEPT_S = 2 * 86_400;
const STEPS_S = [60, 300, 900, HOUR_S, 6 * HOUR_S, 24 * HOUR_S];

export const statsRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/stats',
    summary: 'Get throughput, failures, queue wait and run time over a period, by runner type, tool or status',
    roles: ROLES,
    query: StatsQuery,
    answers: { 200: { description: 'A series for each, of the 50 with the most calls', schema: Stats } },
    handle: async ({ store }, { principal, query }): Promise<Stats> => {
      const { by, ...range } = rangeOf(query, Date.now());
      const found = await readStats(store.db, { tenant: principal.tenant, by, max_series: MAX_SERIES, ...range });
      return { step_s: range.step_s, series: found.map(({ key, points }) => ({ [by]: key, points })) };
    },
  }),
  route({
    method: 'GET',
    path: '/v1/stats/now',
    summary: 'Get what is waiting and running now, by runner type, and the slots of the workers',
    roles: ROLES,
    answers: { 200: { description: 'The counts', schema: StatsNow } },
    handle: ({ store }, { principal }) => readStatsNow(store.db, principal.tenant),
  }),
];

/** The period, the step and the rollups to read them from. */
function rangeOf({ since, until, step, by }: z.output<typeof StatsQuery>, now: number) {
  const end = until === undefined ? now : Date.parse(until);
  const start = since === undefined ? end - HOUR_S * 1000 : Date.parse(since);
  const length_s = (end - start) / 1000;
  if (length_s <= 0) throw invalid('since', 'has to be before until');
  const old = (now - start) / 1000 > MINUTES_KEPT_S;
  const wanted =
    STEPS_S.find((one) => length_s / one <= WANTED_POINTS) ?? 24 * HOUR_S * Math.ceil(length_s / 86_400 / MAX_POINTS);
  const step_s = step ?? (old ? Math.max(HOUR_S, wanted) : wanted);
  if (length_s / step_s > MAX_POINTS) throw invalid('step', `gives more than ${MAX_POINTS} points; take a larger one`);
  if (old && step_s % HOUR_S !== 0)
    throw invalid('step', 'has to be whole hours (3600) for a period that begins more than two days ago');
  const grain = step_s % HOUR_S === 0 ? ('hour' as const) : ('minute' as const);
  return { since: new Date(start).toISOString(), until: new Date(end).toISOString(), step_s, by, grain };
}

const invalid = (field: string, message: string) =>
  new Failure('INVALID_REQUEST', { detail: `${field}: ${message}`, context: { errors: [{ field, message }] } });
