import { requestOf, submittedAt } from '@capstan/admission';
import { type CatalogEntry, describeErrors } from '@capstan/catalog';
import { type Decision, Failure } from '@capstan/contracts';
import { LiveRedactor } from '@capstan/redact';
import type { Runner, RunOutcome } from '@capstan/runners';
import { isUnavailable } from '@capstan/store';
import type { Claimed, Settlement } from '@capstan/store/claim';
import type { HeldTask } from '@capstan/store/hold';
import { auditDetail, startEvent } from './audit-detail.js';
import { whyRefused } from './check-approval.js';
import { NotStarted, TakenElsewhere } from './run-elsewhere.js';
import { Running } from './running.js';
import { type Finished, toSettlement } from './to-settlement.js';
import { idsOf } from './trace-attempt.js';
import type { WorkerContext } from './worker-context.js';

/**
 * Takes one invocation through a worker, from a claim (its attempt is on record, and `attempt` is its fencing token) to a settlement:
 * load → decide again, and check the approval of a held call → run under a deadline → redact → hash → settle → publish.
 *
 * Resolves when the tool has ended and the slot is free. The settlement is written in the background, in a batch with others.
 */
export async function runInvocation(worker: WorkerContext, claimed: Claimed, begun?: Begun): Promise<void> {
  const running = new Running(claimed);
  worker.running.set(claimed.invocation_id, running);
  noteWait(worker, claimed);
  const started = performance.now();
  const finished = await attempt(worker, running, begun);
  if (finished === 'taken elsewhere') {
    if (worker.running.get(claimed.invocation_id) === running) worker.running.delete(claimed.invocation_id);
    return;
  }
  const duration_ms = performance.now() - started;
  const settlement = toSettlement(worker, running, finished, duration_ms);
  worker.metrics.ended(claimed.runner, settlement.outcome, duration_ms / 1000);
  if (settlement.status === 'queued') worker.metrics.retried(claimed.runner);
  running.trace?.ended(settlement);
  logAttempt(worker, running, settlement);
  // Logs first, so that an ended invocation has all its lines.
  const logged = worker.logs.written(claimed);
  if (logged) await logged;
  worker.running.delete(claimed.invocation_id);
  worker.settle(running, settlement);
}

/** A call that another process started `age_ms` ago. It was admitted to run then; all that is left is to wait for its end. */
export type Begun = { age_ms: number };

async function attempt(worker: WorkerContext, running: Running, begun?: Begun): Promise<Finished | 'taken elsewhere'> {
  const { claimed } = running;
  let started = begun !== undefined;
  let ran = false;
  try {
    const tool = await load(worker, claimed, begun);
    const decision = await decideAgain(worker, claimed, tool.entry);
    running.trace?.decided(decision);
    if (begun) {
      ran = true;
      return await ranWith(worker, running, tool, decision, begun.age_ms);
    }
    const refused = decision.allowed ? null : await whyRefused(worker, claimed, tool.entry, decision);
    if (refused?.kind === 'returned' && !tool.is_as_admitted) await worker.leaveToOthers?.(claimed);
    if (refused) return refused;
    if (!decision.allowed) running.trace?.approved();
    const detail = auditDetail(claimed, tool.entry.descriptor, worker.redactor);
    if (detail) await worker.audit(startEvent(claimed, detail));
    // Checked right before the start: a process that was frozen since its claim must not start a call that another worker has by now.
    if (running.stopped !== null || !worker.mayBegin()) return { kind: 'unstarted' };
    started = true;
    return await ranWith(worker, running, tool, decision, 0);
  } catch (error) {
    if (error instanceof TakenElsewhere) return 'taken elsewhere';
    // The call keeps running in the process that started it, and this worker will look for it again.
    if (begun && !ran && isUnavailable(error)) return 'taken elsewhere';
    if (error instanceof NotStarted) return { kind: 'unstarted', backoff_ms: error.backoff_ms };
    // Postgres was unavailable, while loading the policy or for data that the tool keeps there. If the call may be repeated, it
    // counts as not started.
    if (isUnavailable(error) && (!started || claimed.idempotent)) return { kind: 'unstarted' };
    // A runner may also throw because it was stopped, which is not an error.
    if (running.stopped === null) {
      const stack = (running.redactor ?? worker.redactor).text(stackOf(error));
      worker.log.error({ error: stack, ...idsOf(claimed, running.trace) }, 'attempt failed outside its tool');
    }
    return { kind: 'broke', error, started };
  }
}

function noteWait({ metrics }: WorkerContext, { attempt, invocation_id, runner, waited_s }: Claimed): void {
  if (attempt === 1)
    metrics.waited(runner, waited_s ?? Math.max(0, Date.now() - (submittedAt(invocation_id) ?? Date.now())) / 1000);
}

/** Successes log at `debug`: there are thousands a second. */
function logAttempt({ log }: WorkerContext, { claimed, trace }: Running, settlement: Settlement): void {
  const level = settlement.status === 'succeeded' ? 'debug' : 'info';
  if (!log.isLevelEnabled(level)) return;
  const { tool_id, runner, attempt } = claimed;
  const { outcome, error, result } = settlement;
  log[level](
    {
      ...idsOf(claimed, trace),
      tool_id,
      runner,
      attempt,
      outcome,
      duration_ms: result?.duration_ms,
      ...(error === null ? {} : { error }),
    },
    'attempt ended',
  );
}

const stackOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error));

type Tool = { entry: CatalogEntry; runner: Runner; is_as_admitted: boolean };

async function load(worker: WorkerContext, claimed: Claimed, begun: Begun | undefined): Promise<Tool> {
  const { tool_id, descriptor_hash } = claimed;
  const known = worker.catalog.get(tool_id);
  // The tool may have been added or changed just now, before the signal reached this process.
  const entry =
    known?.descriptor_hash === descriptor_hash ? known : await worker.catalog.find(tool_id, descriptor_hash);
  const is_as_admitted = entry?.descriptor_hash === descriptor_hash;
  if (!begun && (!entry || (!is_as_admitted && entry.check(claimed.inputs).length > 0)))
    await worker.leaveToOthers?.(claimed);
  const runner = entry && worker.runners.get(entry.descriptor.runner);
  if (!entry || !runner)
    throw new Failure('UNKNOWN_TOOL', { detail: `This worker does not know ${tool_id}.`, retryable: false });
  if (!is_as_admitted && !begun) checkAgain(entry, claimed);
  return { entry, runner, is_as_admitted };
}

/** If the tool changed since admission, its inputs may no longer be valid. */
function checkAgain({ check, descriptor_hash }: CatalogEntry, claimed: Claimed): void {
  const errors = descriptor_hash === claimed.descriptor_hash ? [] : check(claimed.inputs);
  if (errors.length > 0)
    throw new Failure('INVALID_INPUTS', {
      detail: `${claimed.tool_id} has changed since it was called: ${describeErrors(errors)}`,
      retryable: false,
    });
}

async function ranWith(
  worker: WorkerContext,
  running: Running,
  tool: Tool,
  decision: Decision,
  age_ms: number,
): Promise<Finished> {
  const outcome = await run(worker, running, tool, decision, age_ms);
  const checked = outcome?.success ? checkOutput(worker, running, tool, decision, outcome) : outcome;
  running.trace?.ran(checked, running.redactor ?? worker.redactor);
  return { kind: 'ran', outcome: checked, descriptor: tool.entry.descriptor };
}

/** Validates the output against the declared schema. Truncated output is not checked: it cannot be valid. */
function checkOutput(
  worker: WorkerContext,
  { claimed, redactor }: Running,
  { entry }: Tool,
  { limits }: Decision,
  outcome: Extract<RunOutcome, { success: true }>,
): RunOutcome {
  const wrong = outcome.truncated ? [] : entry.checkOutput(outcome.payload);
  if (wrong.length === 0) return outcome;
  const places = wrong.slice(0, 5).map(({ field, message }) => `${field} ${message}`);
  const error = `the output does not match the output_schema of ${claimed.tool_id}: ${places.join('; ')}`;
  if (limits.output_schema !== 'warn')
    return { ...outcome, success: false, error, kind: 'OUTPUT_INVALID', retryable: false };
  worker.logs.write(claimed, 'stderr', (redactor ?? worker.redactor).text(`warning: ${error}\n`));
  return outcome;
}

function run(
  worker: WorkerContext,
  running: Running,
  tool: Tool,
  decision: Decision,
  age_ms: number,
): Promise<RunOutcome | null> {
  const { claimed } = running;
  const { inputs, warnings } = tool.entry.prepare(claimed.inputs);
  const redact = new LiveRedactor(worker.redactor);
  for (const warning of warnings) worker.logs.write(claimed, 'stderr', redact.text(`warning: ${warning}\n`));
  running.redactor = redact;
  const traceparent =
    running.trace?.began(claimed, tool.entry.descriptor, inputs, redact) ?? claimed.traceparent ?? undefined;
  return runUnderDeadline(running, Math.max(1, decision.limits.timeout_ms - age_ms), () =>
    tool.runner.run({
      invocation_id: claimed.invocation_id,
      attempt: claimed.attempt,
      tenant: claimed.tenant,
      actor: claimed.actor,
      session_id: claimed.session_id,
      descriptor: tool.entry.descriptor,
      inputs,
      traceparent,
      labels: claimed.labels,
      limits: decision.limits,
      redact,
      get signal() {
        return running.signal;
      },
      beforeEffect: () => {
        if (!worker.holdsLease()) running.stop('lost');
      },
      log: (stream, text) => worker.logs.write(claimed, stream, text),
      keep: (file) => worker.keep(claimed, file),
      secret: async (name, hosts) => {
        const value = await worker.secret(claimed, name, hosts);
        redact.learn(value);
        return value;
      },
      checkpoint: async (state, repeatable, look_ms) => {
        await worker.questions.checkpoint(claimed, { state, repeatable, look_ms });
        running.repeatable = repeatable;
      },
      // A first attempt can only find a checkpoint that it wrote itself.
      resumed: async () => (claimed.attempt === 1 && !running.repeatable ? null : worker.questions.resumed(claimed)),
      ask: (question, withdrawn) => worker.questions.ask(running, question, decision.limits.timeout_ms, withdrawn),
      get session() {
        return worker.session(claimed);
      },
    }),
  );
}

/** Uses the policy versions that admitted the call, and the current policy of the installation. */
export async function decideAgain(
  { policies, rules }: Pick<WorkerContext, 'policies' | 'rules'>,
  call: Claimed | HeldTask,
  entry: CatalogEntry,
): Promise<Decision> {
  const policy = policies.cached(call.policy_hash) ?? (await policies.load(call.policy_hash));
  const decision = policy.decide(requestOf(rules, entry, call));
  // What would allow it may have been put in force just now, before the signal reached this process.
  if (decision.code === 'SPEC_HASH_MISMATCH') await rules.refresh();
  else if (!decision.allowed && decision.decided_by === 'installation') await policies.refresh();
  else return decision;
  return policy.decide(requestOf(rules, entry, call));
}

/** How long a runner may take to stop its tool before the worker gives up on it. */
const STOP_GRACE_MS = 5000;

/**
 * Runs until the tool ends, the deadline passes or it is told to stop. A tool that returns synchronously costs no timer. Null if
 * the runner did not return within the grace period after it was told to stop.
 */
export async function runUnderDeadline(
  running: Running,
  timeout_ms: number,
  run: () => RunOutcome | Promise<RunOutcome>,
): Promise<RunOutcome | null> {
  const outcome = run();
  if (!(outcome instanceof Promise)) return outcome;
  const deadline = setTimeout(() => running.stop('timeout'), timeout_ms);
  let grace: NodeJS.Timeout | undefined;
  const givenUp = new Promise<null>((resolve) => {
    running.onStop(() => {
      grace = setTimeout(() => resolve(null), STOP_GRACE_MS);
    });
  });
  try {
    return await Promise.race([outcome, givenUp]);
  } finally {
    clearTimeout(deadline);
    clearTimeout(grace);
  }
}
