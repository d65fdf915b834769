import { eventually } from '../fixtures/eventually.js';
import type { LineProcess } from '../fixtures/start-line-process.js';
import { findBusyWorker } from './find-busy-worker.js';
import type { Cluster } from './start-cluster.js';

/** Freezes a worker that cannot settle what it has claimed. The last statement of another worker might still be on its way. */
export async function freezeBusyWorker(cluster: Cluster): Promise<LineProcess> {
  return eventually(async () => {
    const worker = await findBusyWorker(cluster);
    if (worker === undefined) throw new Error('no worker has claimed anything');
    worker.kill('SIGSTOP');
    await cluster.ask('SELECT pg_sleep(0.2)');
    if (await findBusyWorker({ ask: cluster.ask, workers: new Set([worker]) })) return worker;
    worker.kill('SIGCONT');
    throw new Error('the worker was frozen too late');
  });
}
