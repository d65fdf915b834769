import type { QueueName, QueueScale } from '@capstan/contracts';
import { READY_AT } from '../invocation/ready-at.js';
import type { Statement, Store } from '../open-store.js';

/** The load of a queue, for autoscalers. */
export type QueueLoad = QueueScale & { runner: QueueName; paused: boolean; workers: number };

/**
 * `waiting` counts calls that a worker could take now: no retries in backoff, nothing held or deferred. Retries have waited since their
 * backoff. The oldest of all others is found by seq, tenant by tenant, because `work` does not say since when they have been ready.
 */
const READ: Statement = {
  name: 'read-scale',
  text: `
    WITH ready AS (
      SELECT runner, tenant, count(*) AS count, min(seq) AS first, NULL::timestamptz AS since FROM work
      WHERE status = 'queued' AND available_at IS NULL AND runner = ANY ($1) GROUP BY runner, tenant
      UNION ALL
      SELECT runner, NULL, count(*), NULL, min(available_at) FROM work
      WHERE status = 'queued' AND available_at <= now() AND runner = ANY ($1) GROUP BY runner
    ), oldest AS (
      SELECT DISTINCT ON (runner) runner, tenant, first FROM ready WHERE first IS NOT NULL ORDER BY runner, first
    ), on_the_way AS (
      SELECT runner, sum(cardinality(ids))::int AS count, min(created_at) AS since FROM claims
      WHERE owned_at IS NULL AND runner = ANY ($1) GROUP BY runner
    ), owned AS (
      -- OFFSET 0: one look for each call. As a join, it may read all results there are.
      SELECT c.runner, count(*)::int AS count FROM claims c, unnest(c.ids) AS id
      WHERE c.owned_at IS NOT NULL AND c.runner = ANY ($1)
        AND NOT EXISTS (SELECT FROM results r WHERE r.invocation_id = id OFFSET 0)
      GROUP BY c.runner
    ), live AS (
      SELECT r.runner, count(*)::int AS workers,
        coalesce(sum(coalesce((w.slots ->> r.runner)::int, w.concurrency)) FILTER (WHERE NOT w.draining), 0)::int AS slots
      FROM workers w, unnest(w.runners) AS r (runner)
      WHERE w.lease_until > now() AND w.stopped_at IS NULL GROUP BY r.runner
    )
    SELECT r.runner, coalesce(q.paused, false) AS paused, coalesce(live.workers, 0) AS workers, coalesce(live.slots, 0) AS slots,
      (coalesce((SELECT sum(count) FROM ready WHERE ready.runner = r.runner), 0) + coalesce(w.count, 0))::int AS waiting,
      coalesce(o.count, 0) AS running,
      greatest(0, extract(epoch FROM now() - least(w.since, ${READY_AT},
        (SELECT min(ready.since) FROM ready WHERE ready.runner = r.runner))))::float8 AS oldest_wait_s
    FROM unnest($1::text[]) AS r (runner)
      LEFT JOIN queues q ON q.runner = r.runner
      LEFT JOIN live ON live.runner = r.runner
      LEFT JOIN on_the_way w ON w.runner = r.runner
      LEFT JOIN owned o ON o.runner = r.runner
      LEFT JOIN oldest ON oldest.runner = r.runner
      LEFT JOIN invocations i ON i.tenant = oldest.tenant AND i.seq = oldest.first`,
};

export async function readScale(store: Pick<Store, 'query'>, runners: readonly QueueName[]): Promise<QueueLoad[]> {
  const rows = await store.query<Omit<QueueLoad, 'desired' | 'oldest_wait_s'> & { oldest_wait_s: number | null }>(
    READ,
    [runners],
  );
  return rows.map((row) => ({
    ...row,
    oldest_wait_s: row.oldest_wait_s ?? 0,
    // A paused queue starts nothing, however many workers there are.
    desired: row.paused ? row.running : row.waiting + row.running,
  }));
}
