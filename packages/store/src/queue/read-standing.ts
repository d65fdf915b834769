import type { QueueName } from '@capstan/contracts';
import { sql } from 'kysely';
import type { Db } from '../open-store.js';

/** Whether calls of a queue can start: not if it is paused or has no workers. */
export type QueueStanding = { paused: boolean; workers: number };

export async function readQueueStanding(db: Db, runner: QueueName): Promise<QueueStanding> {
  const { rows } = await sql<QueueStanding>`
    SELECT coalesce((SELECT paused FROM queues WHERE runner = ${runner}), false) AS paused,
      (SELECT count(*)::int FROM workers
        WHERE ${runner} = ANY (runners) AND lease_until > now() AND stopped_at IS NULL AND NOT draining) AS workers`.execute(
    db,
  );
  return rows[0] ?? { paused: false, workers: 0 };
}
