import { newInvocationId } from '@capstan/admission';
import { activeTraceparent, type Backbone, isTracing, startSpan, traceSend, within } from '@capstan/backbone';
import { Failure, loneRunId, type ScheduleFire, Submission } from '@capstan/contracts';
import { compilePlan } from '@capstan/plan';
import type { CompiledPolicy } from '@capstan/policy';
import { type Db, queryIn } from '@capstan/store';
import { insertInvocations } from '@capstan/store/invocation';
import { insertPlanRun } from '@capstan/store/plan';
import type { DueSchedule } from '@capstan/store/schedule';
import { nanoid } from 'nanoid';
import { admitUnsent } from '../admit-unsent.js';

/** A recorded start. `committed` must be called after the commit. */
export type StartedFire = ScheduleFire & { committed(): void };

type Parts = Pick<Backbone, 'catalog' | 'denials' | 'dispatcher' | 'rules'>;

const NOTHING = () => {};

/** Starts the call or run of a schedule, in the transaction that records the start. A failed start is recorded with its reason. */
export async function startScheduled(
  parts: Parts,
  db: Db,
  schedule: DueSchedule,
  fire_at: string,
  policy: CompiledPolicy | null,
): Promise<StartedFire> {
  if (!policy) return failed(fire_at, 'no policy is installed, so nothing is allowed');
  return traceFire(schedule, () =>
    schedule.plan === null
      ? startTool(parts, db, schedule, fire_at, policy)
      : startPlan(parts, db, schedule, fire_at, policy),
  );
}

/** Gives each start its own trace, which includes the call or run it creates. */
async function traceFire(
  { schedule_id, name, tenant }: DueSchedule,
  start: () => Promise<StartedFire>,
): Promise<StartedFire> {
  if (!isTracing()) return start();
  const span = startSpan('fire schedule', {
    attributes: {
      'capstan.schedule_id': schedule_id,
      'capstan.tenant': tenant,
      ...(name === null ? {} : { 'capstan.schedule_name': name }),
    },
  });
  try {
    return await within(span, start);
  } finally {
    span.end();
  }
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
  if (!parsed.success)
    return failed(fire_at, parsed.error.issues[0]?.message ?? 'the schedule has no valid submission');
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
  const send = async () => {
    const plan = parts.dispatcher.plan([row]);
    return { plan, ...(await insertInvocations({ query: queryIn(db) }, [row], plan)) };
  };
  const { plan, handed } = await (isTracing() ? traceSend([row], send) : send());
  const run_id = loneRunId(invocation_id);
  if (row.status === 'denied') {
    const committed = () => parts.denials.note(row.decision.code);
    return { ...failed(fire_at, `denied: ${row.decision.reason}`, run_id), committed };
  }
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
      traceparent: activeTraceparent(),
    });
    return { fire_at, outcome: 'started', run_id, detail: null, committed: NOTHING };
  } catch (error) {
    // For example, a tool of the plan was removed. Any other error belongs in the log.
    if (error instanceof Failure) return failed(fire_at, error.message);
    throw error;
  }
}
