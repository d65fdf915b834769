import { activeTraceparent } from '@capstan/backbone';
import { type DryRun, Failure, hasRole, type Principal, type RunAccepted, RunSubmission } from '@capstan/contracts';
import { type CompiledPolicy, compilePolicy } from '@capstan/policy';
import { insertPlanRun } from '@capstan/store/plan';
import { boundBy, ensurePolicy, runPolicyName } from '@capstan/store/policy';
import { nanoid } from 'nanoid';
import type { GatewayContext } from '../gateway-context.js';
import { parseWith } from '../http/parse-request.js';
import { readPolicy } from '../policy/read-policy.js';
import { dryRun } from './dry-run.js';
import { readPlan } from './read-plan.js';

/** Checks everything that can be checked before a run, then commits it. The coordinator starts its steps. */
export async function submitRun(gateway: GatewayContext, principal: Principal, body: unknown): Promise<RunAccepted> {
  const { submission, plan, inputs } = await read(gateway, principal, body);
  const policy_hash = await choosePolicy(gateway, principal, submission);
  const run_id = `run_${nanoid()}`;
  const signals = gateway.relay.riding('due', [run_id]);
  const run = {
    run_id,
    tenant: principal.tenant,
    actor: principal.actor,
    roles: principal.roles,
    name: plan.name,
    plan: plan.document,
    plan_hash: plan.plan_hash,
    policy_hash,
    own_policy: submission.policy !== undefined,
    inputs,
    max_parallel: submission.max_parallel ?? plan.max_parallel,
    webhook_url: submission.webhook_url ?? null,
    steps: plan.steps.map(({ id, name, tool_id }) => ({ step_id: id, name, tool_id })),
    traceparent: activeTraceparent(),
  };
  await insertPlanRun(gateway.store.query, run, signals ?? []);
  if (!signals) gateway.relay.publish('due', [run_id]);
  return {
    run_id,
    plan_hash: plan.plan_hash,
    policy_hash,
    status: 'pending',
    name: plan.name,
    total_steps: plan.steps.length,
  };
}

/** Decides about every step without running any. */
export async function tryRun(gateway: GatewayContext, principal: Principal, body: unknown): Promise<DryRun> {
  const { submission, plan, inputs } = await read(gateway, principal, body);
  const policy: CompiledPolicy = submission.policy
    ? compilePolicy({
        ...(await readPolicy(gateway, principal.tenant, submission.policy)),
        installation: gateway.policies.installation(),
      })
    : gateway.policies.of(principal.tenant);
  return dryRun(gateway, principal, plan, inputs, policy);
}

/** A text body is a plan without the other fields. */
async function read(gateway: GatewayContext, { tenant }: Principal, body: unknown) {
  const submission = parseWith(RunSubmission, typeof body === 'string' ? { plan: body } : body, 'body');
  gateway.webhook_addresses.check(submission.webhook_url, 'webhook_url');
  const plan = await readPlan(gateway, tenant, submission.plan);
  return { submission, plan, inputs: plan.inputs.fill(submission.inputs) };
}

/** A run keeps the policy it starts with. One of its own needs the role admin, who could also put it in force. */
async function choosePolicy(gateway: GatewayContext, principal: Principal, { policy }: RunSubmission): Promise<string> {
  if (policy === undefined) return gateway.policies.of(principal.tenant).policy_hash;
  if (!hasRole(principal, 'admin'))
    throw new Failure('ROLE_MISSING', {
      detail: 'A run with a policy of its own needs the role admin.',
      suggestion: 'Leave policy out, so that the one in force decides, or try it with dry_run=true.',
      context: { roles: ['admin'] },
    });
  const { policy_hash, document } = boundBy(
    await readPolicy(gateway, principal.tenant, policy),
    gateway.policies.installation(),
  );
  await ensurePolicy(gateway.store, runPolicyName(policy_hash), document);
  return policy_hash;
}
