import type { StatsBy, StatsNow, StatsPoint } from '@capstan/contracts';
import { RUNNER_QUEUES } from '@capstan/contracts';
import { sql } from 'kysely';
import { READY_AT } from '../invocation/ready-at.js';
import type { Db } from '../open-store.js';
import { percentile } from './buckets.js';

export type StatsWanted = {
  tenant: string;
  since: string;
  until: string;
  step_s: number;
  by: StatsBy;
  grain: 'minute' | 'hour';
  max_series: number;
};

type Row = {
  key: string;
  t: string;
  count: number;
  failed: number;
  wait: Record<string, number> | null;
  run: Record<string, number> | null;
};

/** The series with the most calls, each with the points at which calls ended. */
export async function readStats(db: Db, wanted: StatsWanted): Promise<{ key: string; points: StatsPoint[] }[]> {
  const { tenant, since, until, step_s, by, grain, max_series } = wanted;
  const { rows } = await sql<Row>`
    WITH picked AS (
      SELECT ${sql.ref(by)} AS key, to_timestamp(floor(extract(epoch FROM t) / ${step_s}) * ${step_s}) AS t, status, measure,
        bucket, sum(count)::int AS count
      FROM stats WHERE tenant = ${tenant} AND grain = ${grain} AND t >= date_trunc(${grain}, ${since}::timestamptz) AND t < ${until}
      GROUP BY 1, 2, 3, 4, 5
    ), top AS (
      SELECT key FROM picked WHERE measure = 'ended' GROUP BY key ORDER BY sum(count) DESC, key LIMIT ${max_series}
    ), summed AS (
      SELECT key, t, measure, bucket, sum(count)::int AS count,
        sum(count) FILTER (WHERE status IN ('failed', 'timed_out', 'ambiguous')) AS failed
      FROM picked WHERE key IN (SELECT key FROM top) GROUP BY 1, 2, 3, 4
    )
    SELECT key, t, coalesce(sum(count) FILTER (WHERE measure = 'ended'), 0)::int AS count,
      coalesce(sum(failed) FILTER (WHERE measure = 'ended'), 0)::int AS failed,
      json_object_agg(bucket, count) FILTER (WHERE measure = 'wait') AS wait,
      json_object_agg(bucket, count) FILTER (WHERE measure = 'run') AS run
    FROM summed GROUP BY key, t ORDER BY key, t`.execute(db);
  const series = new Map<string, StatsPoint[]>();
  for (const { key, t, count, failed, wait, run } of rows) {
    const point = {
      t,
      count,
      failed,
      wait_p50_ms: percentile(wait ?? {}, 0.5),
      wait_p95_ms: percentile(wait ?? {}, 0.95),
      run_p50_ms: percentile(run ?? {}, 0.5),
      run_p95_ms: percentile(run ?? {}, 0.95),
    };
    series.set(key, [...(series.get(key) ?? []), point]);
  }
  return [...series].map(([key, points]) => ({ key, points }));
}

/** The present state of a tenant. Slots and workers are those of the installation. */
export async function readStatsNow(db: Db, tenant: string): Promise<StatsNow> {
  const { rows } = await sql<StatsNow['runners'][number]>`
    SELECT t.runner, coalesce(q.paused, false) AS paused,
      coalesce(w.queued, 0) AS queued, coalesce(w.deferred, 0) AS deferred, coalesce(w.held, 0) AS held,
      coalesce(c.running, 0) AS running, w.oldest_waiting_at, coalesce(s.workers, 0) AS workers,
      coalesce(s.slots, 0) AS slots, coalesce(u.used, 0) AS slots_used
    FROM (
      SELECT runner, place FROM unnest(${[...RUNNER_QUEUES]}::text[]) WITH ORDINALITY AS u (runner, place)
      UNION ALL SELECT DISTINCT 'app/' || pool, 1000 FROM pool_versions
    ) AS t
    LEFT JOIN queues q ON q.runner = t.runner
    LEFT JOIN (
      SELECT w.runner, count(*) FILTER (WHERE w.status = 'queued')::int AS queued,
        count(*) FILTER (WHERE w.status = 'deferred')::int AS deferred, count(*) FILTER (WHERE w.status = 'held')::int AS held,
        (SELECT ${sql.raw(READY_AT)} FROM invocations i WHERE i.seq = min(w.seq) FILTER (WHERE w.status = 'queued')
          AND i.tenant = ${tenant}) AS oldest_waiting_at
      FROM work w WHERE w.tenant = ${tenant} GROUP BY w.runner
    ) w ON w.runner = t.runner
    LEFT JOIN (
      SELECT c.runner, count(*)::int AS running FROM claims c, unnest(c.ids) AS id
        JOIN invocations i ON i.invocation_id = id AND i.tenant = ${tenant}
      WHERE c.owned_at IS NOT NULL AND NOT EXISTS (SELECT FROM results r WHERE r.invocation_id = id OFFSET 0)
      GROUP BY c.runner
    ) c ON c.runner = t.runner
    LEFT JOIN (
      SELECT c.runner, count(*)::int AS used FROM claims c, unnest(c.ids) AS id
      WHERE c.owned_at IS NOT NULL AND NOT EXISTS (SELECT FROM results r WHERE r.invocation_id = id OFFSET 0)
      GROUP BY c.runner
    ) u ON u.runner = t.runner
    LEFT JOIN (
      SELECT runner, count(*)::int AS workers,
        sum(coalesce((slots ->> runner)::int, ceil(concurrency::numeric / cardinality(runners))))::int AS slots
      FROM workers, unnest(runners) AS runner
      WHERE lease_until > now() AND stopped_at IS NULL AND NOT draining GROUP BY runner
    ) s ON s.runner = t.runner
    ORDER BY t.place, t.runner`.execute(db);
  const { rows: holds } = await sql<StatsNow['holds'] & { at: string }>`
    SELECT now() AS at, count(*)::int AS pending, count(*) FILTER (WHERE expires_at < now() + interval '1 hour')::int AS expiring
    FROM holds WHERE tenant = ${tenant} AND status = 'pending'`.execute(db);
  const { at = new Date().toISOString(), pending = 0, expiring = 0 } = holds[0] ?? {};
  return { at, runners: rows, holds: { pending, expiring } };
}
