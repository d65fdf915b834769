import type { Quota, QuotaLimit } from '@capstan/contracts';
import { sql } from 'kysely';
import type { Db } from '../open-store.js';

/** The current usage of a scope, counted from rows. */
export type Usage = {
  scope: string;
  waiting: number;
  live: number;
  minute: number;
  day: number;
  /** The real runtime of ended calls, and at least `typical_ms` for each of the others. */
  runtime_ms: number;
  /** The average runtime of calls that ended today; 0 if there are none. */
  typical_ms: number;
  cost_units: number;
};

/**
 * `budgets` are the scopes whose runtime and cost are needed: they require reading every call of the day, while the other counts come
 * from an index. Waiting calls are counted only if `waiting` says so, because there may be many. Budgets reserve: until a call ends, it
 * counts with its expected runtime (that of earlier calls) and cost (as its tool declares), afterwards with the real ones. A call that
 * never ran costs nothing.
 */
export async function countUsage(
  db: Db,
  scopes: readonly string[],
  { budgets = scopes, waiting = true }: { budgets?: readonly string[]; waiting?: boolean } = {},
): Promise<Usage[]> {
  if (scopes.length === 0) return [];
  const { rows } = await sql<Usage>`
    WITH held AS MATERIALIZED (
      SELECT taken.scope, count(*)::int AS live FROM (
        SELECT quota_scopes FROM work WHERE quota_scopes IS NOT NULL AND status = 'queued'
        UNION ALL
        SELECT i.quota_scopes FROM claims c, unnest(c.ids) AS id JOIN invocations i ON i.invocation_id = id
        WHERE c.under_quota AND i.quota_scopes IS NOT NULL
          -- OFFSET 0: one look for each call. As a join, it may read all results there are.
          AND NOT EXISTS (SELECT FROM results r WHERE r.invocation_id = id OFFSET 0)
      ) AS l, unnest(l.quota_scopes) AS taken (scope) GROUP BY taken.scope
    ), waits AS MATERIALIZED (
      SELECT wanted.scope, count(*)::int AS waiting FROM work, unnest(quota_scopes) AS wanted (scope)
      WHERE quota_scopes IS NOT NULL AND status = 'deferred' AND run_at IS NULL GROUP BY wanted.scope
    ), running AS MATERIALIZED (
      SELECT id AS invocation_id, owned_at FROM claims, unnest(ids) AS id WHERE under_quota AND owned_at IS NOT NULL
    )
    SELECT scope, coalesce(CASE WHEN ${waiting}::boolean THEN (SELECT waiting FROM waits WHERE waits.scope = scope.scope) END, 0) AS waiting,
      coalesce((SELECT live FROM held WHERE held.scope = scope.scope), 0) AS live, calls.minute, calls.day,
      coalesce(budget.runtime_ms, 0) AS runtime_ms, coalesce(budget.typical_ms, 0) AS typical_ms,
      coalesce(budget.cost_units, 0) AS cost_units
    FROM unnest(${scopes}::text[]) AS scope
    CROSS JOIN LATERAL (
      SELECT count(*) FILTER (WHERE taken_at >= date_trunc('minute', now()))::int AS minute, count(*)::int AS day
      FROM quota_uses u WHERE u.scope = scope.scope AND taken_at >= date_trunc('day', now())
    ) calls
    LEFT JOIN LATERAL (
      SELECT sum(CASE WHEN ended THEN ms ELSE greatest(ms, typical_ms) END)::float8 AS runtime_ms,
        max(typical_ms)::float8 AS typical_ms, sum(units)::float8 AS cost_units
      FROM (
        SELECT r.status IS NOT NULL AS ended, ran.ms,
          avg(ran.ms) FILTER (WHERE r.attempt > 0) OVER () AS typical_ms,
          CASE WHEN r.facts ->> 'cost_units' IS NOT NULL THEN (r.facts ->> 'cost_units')::float8
            WHEN r.attempt = 0 THEN 0 ELSE u.cost_units END AS units
        FROM quota_uses u LEFT JOIN results r ON r.invocation_id = u.invocation_id
          LEFT JOIN running ON r.status IS NULL AND running.invocation_id = u.invocation_id
          CROSS JOIN LATERAL (
            SELECT coalesce(sum(extract(epoch FROM a.ended_at - a.started_at)) * 1000, 0)
              + coalesce(extract(epoch FROM coalesce(r.finished_at, clock_timestamp()) - coalesce(r.started_at, running.owned_at)) * 1000, 0) AS ms
            FROM attempts a WHERE a.invocation_id = u.invocation_id AND a.attempt IS DISTINCT FROM r.attempt
          ) ran
        WHERE u.scope = scope.scope AND u.taken_at >= date_trunc('day', now())
      ) calls_of_today
    ) budget ON scope = ANY (${budgets}::text[])`.execute(db);
  return rows;
}

export const budgetsOf = (quotas: readonly Pick<Quota, 'scope' | 'limits'>[]): string[] =>
  quotas
    .filter(({ limits }) => limits.max_runtime_ms_per_day !== undefined || limits.max_cost_units_per_day !== undefined)
    .map(({ scope }) => scope);

/** How much of a limit is used. */
export const usedOf = (usage: Usage, limit: QuotaLimit): number => {
  switch (limit) {
    case 'max_concurrent':
      return usage.live;
    case 'calls_per_minute':
      return usage.minute;
    case 'calls_per_day':
      return usage.day;
    case 'max_runtime_ms_per_day':
      return usage.runtime_ms;
    case 'max_cost_units_per_day':
      return usage.cost_units;
  }
};

const LIMITS = [
  'max_concurrent',
  'calls_per_minute',
  'calls_per_day',
  'max_runtime_ms_per_day',
  'max_cost_units_per_day',
] as const satisfies QuotaLimit[];

/** How much of a limit one more call is expected to use. */
const expectedOf = (usage: Usage, limit: QuotaLimit, cost_units: number): number => {
  if (limit === 'max_cost_units_per_day') return cost_units;
  return limit === 'max_runtime_ms_per_day' ? usage.typical_ms : 1;
};

/** The limit that does not allow one more call, or null. With `counted`, the call is already included in the time windows. */
export function limitReached(
  { limits }: Pick<Quota, 'limits'>,
  usage: Usage,
  cost_units: number,
  counted = false,
): QuotaLimit | null {
  for (const limit of LIMITS) {
    const max = limits[limit];
    if (max === undefined || (counted && limit !== 'max_concurrent')) continue;
    const used = usedOf(usage, limit);
    // The first call of a day has no typical runtime yet: it may start if any runtime is left.
    if (used + expectedOf(usage, limit, cost_units) > max || (limit === 'max_runtime_ms_per_day' && used >= max))
      return limit;
  }
  return null;
}

/** Adds one call to the usage before its row exists. */
export function addCall(usage: Usage, cost_units: number, counted = false): void {
  usage.live += 1;
  if (counted) return;
  usage.minute += 1;
  usage.day += 1;
  usage.runtime_ms += usage.typical_ms;
  usage.cost_units += cost_units;
}

export type RoomLeft = { scope: string; limit: QuotaLimit; max: number; left: number };

/** The limit with the smallest remaining share. */
export function leastRoom(
  quotas: readonly Pick<Quota, 'scope' | 'limits'>[],
  usages: ReadonlyMap<string, Usage>,
): RoomLeft | undefined {
  const rooms = quotas.flatMap(({ scope, limits }) => {
    const usage = usages.get(scope);
    return LIMITS.flatMap((limit): RoomLeft[] => {
      const max = limits[limit];
      return usage && max !== undefined
        ? [{ scope, limit, max, left: Math.max(0, Math.floor(max - usedOf(usage, limit))) }]
        : [];
    });
  });
  return rooms.sort((one, other) => one.left / one.max - other.left / other.max)[0];
}
