import type { LineProcess } from '../fixtures/start-line-process.js';
import type { Cluster } from './start-cluster.js';

/** Starts another worker whenever one of these has ended, as a supervisor would. Returns how to stop that. */
export function superviseWorkers(cluster: Cluster, workers: readonly LineProcess[]): () => void {
  let supervising = true;
  const supervise = async (worker: LineProcess) => {
    let current: LineProcess | undefined = worker;
    for (;;) {
      await current?.exited;
      if (!supervising) return;
      // It may end before it has quite started.
      current = await cluster.startWorker().catch(() => undefined);
    }
  };
  for (const worker of workers) void supervise(worker);
  return () => {
    supervising = false;
  };
}
