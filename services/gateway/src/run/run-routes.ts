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
import { getRunDetail, listPlainSteps, listRuns, listSteps, type RunControl } from '@capstan/store';
import { z } from 'zod';
import { type Route, route } from '../http/route.js';
import { notFound } from '../invocation/act-on.js';
import { controlRun, readRun } from './control-run.js';
import { streamRun } from './stream-run.js';
import { submitRun, tryRun } from './submit-run.js';

const READERS: Route['roles'] = ['submit', 'operate', 'audit'];
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
    summary: 'Run a plan, as JSON or as YAML; with dry_run=true, decide about its steps and run none',
    roles: ['submit'],
    brings_work: true,
    query: SubmitQuery,
    // As application/yaml it is a bare plan.
    body: z.unknown().meta({ override: RunSubmission }),
    body_limit: 'bulk',
    answers: {
      200: { description: 'What would be decided', schema: DryRun },
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
    summary: 'One run with its counts, and the plan and inputs it started with',
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
    summary: 'The steps of a run with their results, in the order of the plan',
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
    summary: 'Follow a run: server-sent events, resumable with Last-Event-ID',
    roles: READERS,
    answers: { 200: { description: 'Events: step and run', media_type: 'text/event-stream' } },
    handle: streamRun,
  }),
  control('pause', 'Start no more steps of a plan; what is under way goes on'),
  control('resume', 'Go on with a plan that is paused'),
  control('cancel', 'Cancel a run: what waits, what runs, and what was to come'),
];
