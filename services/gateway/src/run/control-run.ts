import { Failure, isRunOver, type Principal, type Run } from '@capstan/contracts';
import { controlPlanRun, type RunControl } from '@capstan/store/plan';
import { getRun } from '@capstan/store/run';
import type { GatewayContext } from '../gateway-context.js';
import { cancel, notFound } from '../invocation/act-on.js';

export async function readRun({ store }: GatewayContext, { tenant }: Principal, run_id: string): Promise<Run> {
  const run = await getRun(store, tenant, run_id);
  if (!run) throw notFound(run_id);
  return run;
}

/** A paused run starts no more steps. Canceling also ends its waiting and running calls. */
export async function controlRun(
  gateway: GatewayContext,
  principal: Principal,
  run_id: string,
  control: RunControl,
): Promise<Run> {
  const run = await readRun(gateway, principal, run_id);
  if (run.kind !== 'plan' && control !== 'cancel') throw illegal(run, 'only runs of plans can be paused and resumed');
  // The coordinator that is working on the run should let go of it.
  if (run.kind === 'plan') gateway.relay.publish('due', [run_id]);
  const changed = run.kind === 'plan' && (await controlPlanRun(gateway.store, principal, run_id, control));
  // After the plan was changed: it starts no more steps from then on, so this reaches all calls.
  const reached = control === 'cancel' ? await cancel(gateway, principal, { run_id }) : 0;
  const after = await readRun(gateway, principal, run_id);
  if (changed) {
    gateway.relay.publish('due', [run_id]);
    gateway.relay.publish('changed', [run_id]);
  } else if (reached === 0 && !isAlready(after, control)) throw illegal(after, REFUSED[control]);
  return after;
}

const REFUSED = {
  pause: 'only a run in progress can be paused',
  resume: 'only a paused run can be resumed',
  cancel: 'it has ended and cannot be canceled',
} as const;

const isAlready = ({ status }: Run, control: RunControl): boolean =>
  control === 'pause'
    ? status === 'paused'
    : control === 'cancel'
      ? status === 'canceled' || !isRunOver(status)
      : status === 'running';

const illegal = ({ run_id, status }: Run, why: string) =>
  new Failure('ILLEGAL_STATE', { detail: `${run_id} is ${status}: ${why}.`, context: { run_id, run_status: status } });
