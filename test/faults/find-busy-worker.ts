import type { LineProcess } from '../fixtures/start-line-process.js';
import type { Cluster } from './start-cluster.js';

/** A worker that has claimed something at this moment. */
export async function findBusyWorker({
  ask,
  workers,
}: Pick<Cluster, 'ask' | 'workers'>): Promise<LineProcess | undefined> {
  const busy = await ask<{ pid: number }>(
    `SELECT pid FROM workers WHERE worker_id IN (SELECT worker_id FROM invocation_states WHERE status = 'running')
     ORDER BY random()`,
  );
  const pids = new Set(busy.map(({ pid }) => pid));
  return [...workers].find(({ pid }) => pids.has(pid));
}
