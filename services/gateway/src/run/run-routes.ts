import {
  DryRun,
  PageQuery,
  pageOf,
  Run,
  RunAccepted,
  RunDetail,
  RunFilter,
  RunSubmission,
  Step,
} from '@capstan/contracts';
import { listPlainSteps, listSteps, type RunControl } from '@capstan/store/plan';
import { getRunDetail, listRuns } from '@capstan/store/run';
import { z } from 'zod';
import { READERS, type Route, route } from '../http/route.js';
import { notFound } from '../invocation/act-on.js';
import { controlRun, readRun } from './control-run.js';
import { streamRun } from './stream-run.js';
import { submitRun, tryRun } from './submit-run.js';

const ListQuery = z.strictObject({
  ...PageQuery.shape,
  ...RunFilter.shape,
  status: z.preprocess((value) => (typeof value === 'string' ? value.split(',') : value), RunFilter.shape.status),
});
const SubmitQuery = z.strictObject({ dry_run: z.enum(['true', 'false']).optional() });

const control = (action: RunControl, summary: string): Route =>
  route({
    method: 'POST',
    path: `/v1/runs/{id}/${action}`,
    summary,
    roles: ['submit', 'operate'],
    answers: { 200: { description: 'The run', schema: Run } },
    handle: (gateway, { principal, params }) => controlRun(gateway, principal, params.id ?? '', action),
  });

export const runRoutes: Route[] = [
  route({
    method: 'POST',
    path: '/v1/runs',
    summary: 'Run a plan, as JSON or YAML; with dry_run=true, only show the decisions about its steps',
    roles: ['submit'],
    brings_work: true,
    query: SubmitQuery,
    // A body of type application/yaml is a plan without the other fields.
    body: z.unknown().meta({ override: RunSubmission }),
    body_limit: 'bulk',
    answers: {
      200: { description: 'The decision about each step', schema: DryRun },
      202: { description: 'It is committed', schema: RunAccepted },
    },
    handle: async (gateway, { principal, body, query, reply }) => {
      if (query.dry_run === 'true') return tryRun(gateway, principal, body);
      const accepted = await submitRun(gateway, principal, body);
      return reply.code(202).header('location', `/v1/runs/${accepted.run_id}`).send(accepted);
    },
  }),
  route({
    method: 'GET',
    path: '/v1/runs',
    summary: 'List runs, newest first; a lone invocation is a run of its own',
    roles: READERS,
    query: ListQuery,
    answers: { 200: { description: 'A page', schema: pageOf(Run) } },
    handle: ({ store }, { principal, query }) => listRuns(store, principal.tenant, query),
  }),
  route({
    method: 'GET',
    path: '/v1/runs/{id}',
    summary: 'Get a run with its counts, plan and inputs',
    roles: READERS,
    answers: { 200: { description: 'The run', schema: RunDetail } },
    handle: async ({ store }, { principal, params }) => {
      const run = await getRunDetail(store, principal.tenant, params.id ?? '');
      if (!run) throw notFound(params.id ?? '');
      return run;
    },
  }),
  route({
    method: 'GET',
    path: '/v1/runs/{id}/steps',
    summary: 'List the steps of a run with their results, in plan order',
    roles: READERS,
    query: PageQuery.strict(),
    answers: { 200: { description: 'A page', schema: pageOf(Step) } },
    handle: async (gateway, { principal, params, query }) => {
      const { kind, run_id } = await readRun(gateway, principal, params.id ?? '');
      const { db } = gateway.store;
      return kind === 'plan' ? listSteps(db, run_id, query) : listPlainSteps(db, principal.tenant, run_id, query);
    },
  }),
  route({
    method: 'GET',
    path: '/v1/runs/{id}/events',
    summary: 'Follow a run as server-sent events; Last-Event-ID resumes',
    roles: READERS,
    answers: { 200: { description: 'Events: step and run', media_type: 'text/event-stream' } },
    handle: streamRun,
  }),
  control('pause', 'Pause a plan: running steps continue, no new ones start'),
  control('resume', 'Resume a paused plan'),
  control('cancel', 'Cancel a run: its waiting and running calls and its remaining steps'),
];
