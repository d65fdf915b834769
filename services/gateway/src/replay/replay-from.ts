import { Failure, hasRole, type Principal, type ReplayAnswer, type Run } from '@capstan/contracts';
import { compilePlan } from '@capstan/plan';
import { loadPlan } from '@capstan/store/plan';
import { boundBy, ensurePolicy, latestPolicy, runPolicyName } from '@capstan/store/policy';
import { continueRun, type RecordedStep, readRecordedSteps } from '@capstan/store/record';
import { hasRemovedResults } from '@capstan/store/retention';
import { nanoid } from 'nanoid';
import type { GatewayContext } from '../gateway-context.js';
import { carryOver, findBlocked } from './carry-over.js';

/** Executes a step and everything that depends on it, with the stored results of all other steps. */
export async function replayFrom(
  gateway: GatewayContext,
  principal: Principal,
  of: Run,
  from: string,
): Promise<ReplayAnswer> {
  const { store, relay } = gateway;
  if (of.kind !== 'plan') throw noSuchStep(of, from, `${of.run_id} is no run of a plan: it has no step ${from}.`);
  const { steps: plan } = compilePlan(await loadPlan(store.db, of.run_id));
  const place = plan.findIndex(({ id }) => id === from);
  if (place < 0) throw noSuchStep(of, from, `The plan of ${of.run_id} has no step ${from}.`);
  if (await hasRemovedResults(store, of.run_id))
    throw new Failure('ILLEGAL_STATE', {
      detail: `Retention has removed results of ${of.run_id}, so it cannot be replayed from a step.`,
      suggestion: 'Submit the plan again.',
      context: { run_id: of.run_id },
    });
  const recorded = await readRecordedSteps(store.db, of.run_id);
  refuseBlocked(plan, place, recorded);
  const steps = carryOver(plan, place, recorded);
  const run_id = `run_${nanoid()}`;
  const policy_hash = await choosePolicy(gateway, principal, of);
  await continueRun(store, principal, { run_id, of, from, policy_hash, steps });
  relay.publish('due', [run_id]);
  const shown = steps.filter(({ elements }) => elements === null);
  return {
    ...{ run_id, mode: 'execution', replay_of: of.run_id, plan_hash: of.plan_hash, total_steps: shown.length },
    reused_steps: shown.filter(({ reused }) => reused).length,
  };
}

const noSuchStep = ({ run_id }: Run, step_id: string, detail: string): Failure =>
  new Failure('NO_SUCH_STEP', { detail, context: { run_id, step_id } });

function refuseBlocked(
  plan: Parameters<typeof findBlocked>[0],
  place: number,
  recorded: ReadonlyMap<number, readonly RecordedStep[]>,
): void {
  const blocked = findBlocked(plan, place, recorded);
  if (!blocked) return;
  throw new Failure('ILLEGAL_STATE', {
    detail: `${plan[place]?.id} needs ${blocked.id}, which did not succeed, so there is no result to continue with.`,
    suggestion: `Replay from ${blocked.id}.`,
    context: { step_id: blocked.id },
  });
}

/** The policy in force. A run with a policy of its own keeps it, which needs the role admin as in the first run. */
async function choosePolicy({ store, policies }: GatewayContext, principal: Principal, of: Run): Promise<string> {
  const { policy_hash } = of;
  const own = policy_hash !== null && (await latestPolicy(store.db, runPolicyName(policy_hash)));
  if (!own) return policies.of(principal.tenant).policy_hash;
  if (!hasRole(principal, 'admin'))
    throw new Failure('ROLE_MISSING', {
      detail: `${of.run_id} has a policy of its own; replaying it under that policy needs the role admin.`,
      context: { roles: ['admin'] },
    });
  // With the installation's current policy: what it has forbidden since then stays forbidden.
  const { policy_hash: bound, document } = boundBy(own.document, policies.installation());
  await ensurePolicy(store, runPolicyName(bound), document);
  return bound;
}
