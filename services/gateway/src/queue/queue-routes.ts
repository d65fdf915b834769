import {
  DEFAULT_TENANT,
  Failure,
  pageOf,
  QueueInfo,
  QueueName,
  QueueScale,
  RUNNER_QUEUES,
  WorkerInfo,
} from '@capstan/contracts';
import type { Store } from '@capstan/store';
import { readScale, setPaused } from '@capstan/store/queue';
import { listQueues, listRunningCalls, listWorkers } from '@capstan/store/worker';
import { AllQuery, pageOfAll } from '../http/page-of-all.js';
import { type Route, route } from '../http/route.js';

function runnerOf(params: Record<string, string>): QueueName {
  const runner = QueueName.safeParse(params.runner);
  if (runner.success) return runner.data;
  throw new Failure('NOT_FOUND', {
    detail: `There is no queue ${JSON.stringify(params.runner)}.`,
    suggestion: `The queues are ${RUNNER_QUEUES.join(', ')}, and app/<pool> for each pool.`,
  });
}

async function queuesOf(store: Store): Promise<QueueInfo[]> {
  const counted = await listQueues(store.db);
  const loads = await readScale(
    store,
    counted.map(({ runner }) => runner),
  );
  const byRunner = new Map(loads.map((load) => [load.runner, load]));
  return counted.map((queue) => {
    const { oldest_wait_s = 0, slots = 0 } = byRunner.get(queue.runner) ?? {};
    return { ...queue, oldest_wait_s, slots };
  });
}

const setPause = (path: string, summary: string, paused: boolean): Route =>
  route({
    method: 'POST',
    path,
    summary,
    roles: ['operate'],
    answers: { 200: { description: 'The queue', schema: QueueInfo } },
    handle: async ({ store, relay }, { principal, params }) => {
      if (principal.tenant !== DEFAULT_TENANT)
        throw new Failure('TENANT_FORBIDDEN', {
          detail: 'All tenants share the queues.',
          suggestion: 'Ask an operator of the tenant default to pause or resume a queue.',
        });
      const runner = runnerOf(params);
      await setPaused(store, principal, runner, paused);
      relay.publish('refresh', ['queues']);
      return (await queuesOf(store)).find((queue) => queue.runner === runner);
    },
  });

export const queueRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/queues',
    summary: 'List queues: what is waiting and running, by runner type',
    roles: ['submit', 'operate', 'audit'],
    query: AllQuery,
    answers: { 200: { description: 'All queues', schema: pageOf(QueueInfo) } },
    handle: async ({ store }, { query }) => pageOfAll(await queuesOf(store), query),
  }),
  route({
    method: 'GET',
    path: '/v1/queues/{runner}/scale',
    summary: 'Get the scaling signal of a runner type, for an autoscaler',
    roles: ['scale', 'operate', 'audit'],
    answers: { 200: { description: 'Waiting and running calls, and the slots of the workers', schema: QueueScale } },
    handle: async ({ store }, { params }) => {
      const [load] = await readScale(store, [runnerOf(params)]);
      return QueueScale.parse(load);
    },
  }),
  setPause('/v1/queues/{runner}/pause', 'Pause the queue of a runner type', true),
  setPause('/v1/queues/{runner}/resume', 'Resume the queue of a runner type', false),
  route({
    method: 'GET',
    path: '/v1/workers',
    summary: 'List workers, including those that ended recently',
    roles: ['operate', 'audit'],
    query: AllQuery,
    answers: { 200: { description: 'All workers', schema: pageOf(WorkerInfo) } },
    handle: async ({ store }, { principal, query }) => {
      const [workers, calls] = await Promise.all([listWorkers(store.db), listRunningCalls(store.db, principal.tenant)]);
      return pageOfAll(
        workers.map((worker) => ({ ...worker, calls: calls.get(worker.worker_id) ?? [] })),
        query,
      );
    },
  }),
];
