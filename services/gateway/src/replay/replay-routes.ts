import {
  Failure,
  pageOf,
  ReplayAnswer,
  ReplayRequest,
  type Run,
  SequenceQuery,
  StepDifference,
} from '@capstan/contracts';
import { compareCalls, findBundle, replayBundle, replayRun } from '@capstan/store/record';
import { nanoid } from 'nanoid';
import { z } from 'zod';
import { type Route, route } from '../http/route.js';
import { notFound } from '../invocation/act-on.js';
import { readRun } from '../run/control-run.js';
import { loggedPlan } from '../verify/logged-plan.js';
import { recordedRun } from '../verify/recorded-run.js';
import { compareCall } from './differences.js';
import { reExecute } from './re-execute.js';
import { replayFrom } from './replay-from.js';

const answers = {
  201: { description: 'A new run with the stored results; nothing was executed', schema: ReplayAnswer },
};

/** Refused before anything is written. */
function checkPlan({ run_id, plan_hash }: Pick<Run, 'run_id' | 'plan_hash'>, wanted: string | undefined): void {
  if (wanted !== undefined && wanted !== plan_hash)
    throw new Failure('PLAN_MISMATCH', {
      detail: `${run_id} is ${plan_hash === null ? 'no run of a plan' : `a run of the plan ${plan_hash}`}.`,
      context: { plan_hash, wanted },
    });
}

const toAnswer = (run_id: string, of: Run): ReplayAnswer => ({
  ...{ run_id, mode: 'replay', replay_of: of.run_id, plan_hash: of.plan_hash, total_steps: of.total_steps },
});

export const replayRoutes: Route[] = [
  route({
    method: 'POST',
    path: '/v1/runs/{id}/replay',
    summary: 'Replay a run from its stored results, or execute its calls again, all of them or from a step on',
    roles: ['submit', 'operate'],
    body: ReplayRequest,
    answers,
    handle: async (gateway, { principal, params, body, reply }) => {
      const { store } = gateway;
      const recorded = await recordedRun(gateway, principal, params.id ?? '');
      const { run, seal } = recorded;
      checkPlan(run, body.plan_hash);
      // The plan comes from the record, because the row may have been changed.
      if (run.kind === 'plan') {
        const plan_hash = seal ? seal.plan_hash : await loggedPlan(store, recorded);
        checkPlan({ run_id: run.run_id, plan_hash }, run.plan_hash ?? undefined);
      }
      if (body.re_execute) return reply.code(201).send(await reExecute(gateway, principal, run));
      if (body.from !== undefined) return reply.code(201).send(await replayFrom(gateway, principal, run, body.from));
      const run_id = `run_${nanoid()}`;
      await replayRun(store, principal, { run_id, of: run });
      return reply.code(201).header('location', `/v1/runs/${run_id}`).send(toAnswer(run_id, run));
    },
  }),
  route({
    method: 'POST',
    path: '/v1/bundles/{id}/replay',
    summary: 'Replay an imported bundle',
    roles: ['submit', 'operate'],
    body: z.strictObject({}),
    answers,
    handle: async ({ store }, { principal, params, reply }) => {
      const bundle = await findBundle(store.db, principal.tenant, params.id ?? '');
      if (!bundle) throw notFound(params.id ?? '');
      const run_id = `run_${nanoid()}`;
      const of = await replayBundle(store, principal, bundle.bundle_id, run_id);
      return reply.code(201).header('location', `/v1/runs/${run_id}`).send(toAnswer(run_id, of));
    },
  }),
  route({
    method: 'GET',
    path: '/v1/runs/{id}/differences',
    summary: 'List calls whose re-executed output differs from the recorded one',
    roles: ['submit', 'operate', 'audit'],
    query: SequenceQuery.strict(),
    answers: {
      200: {
        description: 'A page',
        schema: pageOf(StepDifference),
      },
    },
    handle: async (gateway, { principal, params, query }) => {
      const { run_id } = await readRun(gateway, principal, params.id ?? '');
      const { items, next_cursor } = await compareCalls(gateway.store.db, principal.tenant, run_id, query);
      return { items: items.map(compareCall), next_cursor };
    },
  }),
];
