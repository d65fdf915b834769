import type { QueueName } from '@capstan/contracts';
import type { Statement, Store } from '../open-store.js';

const COUNT: Statement = {
  name: 'count-queued',
  text: `SELECT
    (SELECT count(*)::int FROM work WHERE runner = $1 AND status = 'queued' AND available_at IS NULL) AS waiting,
    (SELECT count(*)::int FROM work WHERE runner = $1 AND status = 'queued' AND available_at IS NOT NULL) AS delayed,
    (SELECT count(*)::int FROM claims c, unnest(c.ids) AS id WHERE c.runner = $1 AND c.owned_at IS NOT NULL
      AND NOT EXISTS (SELECT FROM results r WHERE r.invocation_id = id)) AS active`,
};

export async function countQueued(store: Store, runner: QueueName) {
  const [counts] = await store.query<{ waiting: number; delayed: number; active: number }>(COUNT, [runner]);
  return counts ?? { waiting: 0, delayed: 0, active: 0 };
}

const PING: Statement = { name: 'ping', text: 'SELECT 1 AS ok' };

export const pingStore = async (store: Store): Promise<void> => {
  await store.query(PING, []);
};
