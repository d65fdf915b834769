import { newInvocationId } from '@capstan/admission';
import type { Backbone } from '@capstan/backbone';
import { Failure, loneRunId, type ScheduleFire, Submission } from '@capstan/contracts';
import { compilePlan } from '@capstan/plan';
import type { CompiledPolicy } from '@capstan/policy';
import { type Db, type DueSchedule, insertInvocations, insertPlanRun, queryIn } from '@capstan/store';
import { nanoid } from 'nanoid';
import { admitUnsent } from '../admit-unsent.js';

/** What was started, and what is to be done once it is committed. */
export type StartedFire = ScheduleFire & { committed(): void };

type Parts = Pick<Backbone, 'catalog' | 'dispatcher' | 'rules'>;

const NOTHING = () => {};

/** Starts what a schedule is for, in the transaction that says so; what cannot be started is on record with the reason. */
export async function startScheduled(
  parts: Parts,
  db: Db,
  schedule: DueSchedule,
  fire_at: string,
  policy: CompiledPolicy | null,
): Promise<StartedFire> {
  if (!policy) return failed(fire_at, 'no policy is installed, so nothing is allowed');
  return schedule.plan === null
    ? startTool(parts, db, schedule, fire_at, policy)
    : startPlan(parts, db, schedule, fire_at, policy);
}

const failed = (fire_at: string, detail: string, run_id: string | null = null): StartedFire => ({
  fire_at,
  outcome: 'failed',
  run_id,
  detail: detail.slice(0, 1000),
  committed: NOTHING,
});

const labelsOf = ({ schedule_id }: DueSchedule) => ({ schedule: schedule_id });

async function startTool(
  parts: Parts,
  db: Db,
  schedule: DueSchedule,
  fire_at: string,
  policy: CompiledPolicy,
): Promise<StartedFire> {
  const { schedule_id, tool_id, inputs, submission } = schedule;
  const parsed = Submission.safeParse({ ...submission, tool_id, inputs });
  if (!parsed.success) return failed(fire_at, parsed.error.issues[0]?.message ?? 'not a submission');
  const { priority, timeout_ms, max_attempts, webhook_url, session_id, labels } = parsed.data;
  const invocation_id = newInvocationId();
  const admitted = admitUnsent(parts, policy, {
    invocation_id,
    run_id: null,
    tenant: schedule.tenant,
    actor: schedule.actor,
    roles: schedule.roles,
    tool_id: parsed.data.tool_id,
    inputs: parsed.data.inputs,
    labels: { ...labels, ...labelsOf(schedule) },
    session_id: session_id ?? null,
    idempotency_key: `${schedule_id}:${fire_at}`,
    priority,
    timeout_ms,
    max_attempts,
    webhook_url,
  });
  if (!admitted.ok) return failed(fire_at, admitted.reason);
  const { row } = admitted;
  const plan = parts.dispatcher.plan([row]);
  const { handed } = await insertInvocations({ query: queryIn(db) }, [row], plan);
  const run_id = loneRunId(invocation_id);
  if (row.status === 'denied') return failed(fire_at, `denied: ${row.decision.reason}`, run_id);
  return { fire_at, outcome: 'started', run_id, detail: null, committed: () => plan.committed(handed) };
}

async function startPlan(
  { catalog }: Parts,
  db: Db,
  schedule: DueSchedule,
  fire_at: string,
  policy: CompiledPolicy,
): Promise<StartedFire> {
  try {
    const plan = compilePlan(schedule.plan, (tool_id) => (catalog.get(tool_id) ? undefined : { similar: [] }));
    const { max_parallel, webhook_url } = schedule.submission ?? {};
    const run_id = `run_${nanoid()}`;
    await insertPlanRun(queryIn(db), {
      run_id,
      tenant: schedule.tenant,
      actor: schedule.actor,
      roles: schedule.roles,
      name: plan.name ?? schedule.name,
      plan: plan.document,
      plan_hash: plan.plan_hash,
      policy_hash: policy.policy_hash,
      inputs: plan.inputs.fill(schedule.inputs),
      max_parallel: typeof max_parallel === 'number' ? max_parallel : plan.max_parallel,
      webhook_url: typeof webhook_url === 'string' ? webhook_url : null,
      labels: labelsOf(schedule),
      steps: plan.steps.map(({ id, name, tool_id }) => ({ step_id: id, name, tool_id })),
    });
    return { fire_at, outcome: 'started', run_id, detail: null, committed: NOTHING };
  } catch (error) {
    // A tool of it may be gone since; anything else is for the log.
    if (error instanceof Failure) return failed(fire_at, error.message);
    throw error;
  }
}
