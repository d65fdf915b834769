import { Failure, QueueInfo, RunnerType, WorkerInfo } from '@capstan/contracts';
import { listQueues, listWorkers, setPaused } from '@capstan/store';
import { z } from 'zod';
import { type Route, route } from '../http/route.js';

const setPause = (path: string, summary: string, paused: boolean): Route =>
  route({
    method: 'POST',
    path,
    summary,
    roles: ['operate'],
    answers: { 200: { description: 'The queue', schema: QueueInfo } },
    handle: async ({ store, relay }, { principal, params }) => {
      const runner = RunnerType.safeParse(params.runner);
      if (!runner.success)
        throw new Failure('NOT_FOUND', {
          detail: `There is no runner type ${JSON.stringify(params.runner)}.`,
          suggestion: `The runner types are ${RunnerType.options.join(', ')}.`,
        });
      await setPaused(store, principal, runner.data, paused);
      relay.publish('refresh', ['queues']);
      return (await listQueues(store.db)).find((queue) => queue.runner === runner.data);
    },
  });

export const queueRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/queues',
    summary: 'What waits and runs, by runner type',
    roles: ['submit', 'operate', 'audit'],
    answers: {
      200: { description: 'All queues', schema: z.object({ items: z.array(QueueInfo), next_cursor: z.null() }) },
    },
    handle: async ({ store }) => ({ items: await listQueues(store.db), next_cursor: null }),
  }),
  setPause('/v1/queues/{runner}/pause', 'Stop handing out work of a runner type', true),
  setPause('/v1/queues/{runner}/resume', 'Hand out work again', false),
  route({
    method: 'GET',
    path: '/v1/workers',
    summary: 'Workers, also those that ended lately',
    roles: ['operate', 'audit'],
    answers: {
      200: { description: 'All workers', schema: z.object({ items: z.array(WorkerInfo), next_cursor: z.null() }) },
    },
    handle: async ({ store }) => ({ items: await listWorkers(store.db), next_cursor: null }),
  }),
];
