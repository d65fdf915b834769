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
import { listQueues, listWorkers, readScale, setPaused } from '@capstan/store';
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
      return (await listQueues(store.db)).find((queue) => queue.runner === runner);
    },
  });

export const queueRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/queues',
    summary: 'What waits and runs, by runner type',
    roles: ['submit', 'operate', 'audit'],
    query: AllQuery,
    answers: { 200: { description: 'All queues', schema: pageOf(QueueInfo) } },
    handle: async ({ store }, { query }) => pageOfAll(await listQueues(store.db), query),
  }),
  route({
    method: 'GET',
    path: '/v1/queues/{runner}/scale',
    summary: 'How many workers a runner type needs, for an autoscaler',
    roles: ['scale', 'operate', 'audit'],
    answers: { 200: { description: 'What waits, runs, and could run at once', schema: QueueScale } },
    handle: async ({ store }, { params }) => {
      const [load] = await readScale(store, [runnerOf(params)]);
      return QueueScale.parse(load);
    },
  }),
  setPause('/v1/queues/{runner}/pause', 'Stop handing out work of a runner type', true),
  setPause('/v1/queues/{runner}/resume', 'Hand out work again', false),
  route({
    method: 'GET',
    path: '/v1/workers',
    summary: 'Workers, also those that ended lately',
    roles: ['operate', 'audit'],
    query: AllQuery,
    answers: { 200: { description: 'All workers', schema: pageOf(WorkerInfo) } },
    handle: async ({ store }, { query }) => pageOfAll(await listWorkers(store.db), query),
  }),
];
