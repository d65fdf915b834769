import { requestOf, submittedAt } from '@capstan/admission';
import type { CatalogEntry } from '@capstan/catalog';
import { type Decision, Failure } from '@capstan/contracts';
import { LiveRedactor } from '@capstan/redact';
import type { Runner, RunOutcome } from '@capstan/runners';
import { type Claimed, isUnavailable, type Settlement } from '@capstan/store';
import { auditDetail, startEvent } from './audit-detail.js';
import { whyRefused } from './check-approval.js';
import { NotStarted, TakenElsewhere } from './run-elsewhere.js';
import { runUnderDeadline } from './run-under-deadline.js';
import { Running } from './running.js';
import { type Finished, toSettlement } from './to-settlement.js';
import { idsOf } from './trace-attempt.js';
import type { WorkerContext } from './worker-context.js';

/**
 * The way of one invocation through a worker, from a claim (its attempt is on record, `attempt` is its fencing token) to
 * a settlement: load → decide again, with its approval where people had to agree → run under a deadline → redact → hash → settle → publish.
 *
 * Resolves when the tool has ended and the slot is free; the settlement goes on in the background, together with others.
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
  // Whoever sees the end of an invocation finds all its log lines.
  const logged = worker.logs.written(claimed);
  if (logged) await logged;
  worker.running.delete(claimed.invocation_id);
  worker.settle(running, settlement);
}

/** A call that a process elsewhere has begun, so long ago: it was decided on then, and what is left is to wait for it. */
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
    // A process that was frozen after its claim must not start what others have taken over meanwhile.
    if (!worker.mayBegin()) return { kind: 'unstarted' };
    const detail = auditDetail(claimed, tool.entry.descriptor, worker.redactor);
    if (detail) await worker.audit(startEvent(claimed, detail));
    started = true;
    return await ranWith(worker, running, tool, decision, 0);
  } catch (error) {
    if (error instanceof TakenElsewhere) return 'taken elsewhere';
    // It goes on where it was begun, and is asked after again.
    if (begun && !ran && isUnavailable(error)) return 'taken elsewhere';
    if (error instanceof NotStarted) return { kind: 'unstarted', backoff_ms: error.backoff_ms };
    // Postgres was away, at the look at its policy or for what a tool keeps there: as if it had not been started, if it may be again.
    if (isUnavailable(error) && (!started || claimed.idempotent)) return { kind: 'unstarted' };
    // A runner that was told to stop may throw, too.
    if (running.stopped === null) {
      const told = (running.redactor ?? worker.redactor).text(stackOf(error));
      worker.log.error({ error: told, ...idsOf(claimed, running.trace) }, 'an attempt failed outside of its tool');
    }
    return { kind: 'broke', error, started };
  }
}

function noteWait({ metrics }: WorkerContext, { attempt, invocation_id, runner }: Claimed): void {
  const submitted = attempt === 1 ? submittedAt(invocation_id) : null;
  if (submitted !== null) metrics.waited(runner, Math.max(0, Date.now() - submitted) / 1000);
}

/** At `debug` where it succeeded: thousands a second do. */
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
  // It may have been added or changed a moment ago, and the news be still on its way.
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

/** A tool that has changed since it was called may take something else now. */
function checkAgain({ check, descriptor_hash }: CatalogEntry, claimed: Claimed): void {
  const [wrong] = descriptor_hash === claimed.descriptor_hash ? [] : check(claimed.inputs);
  if (wrong)
    throw new Failure('INVALID_INPUTS', {
      detail: `${claimed.tool_id} has changed since it was called: ${wrong.field} ${wrong.message}`,
      retryable: false,
    });
}

/** Against the very versions of the policies that admitted it, and the installation's of now. */
async function decideAgain(worker: WorkerContext, claimed: Claimed, entry: CatalogEntry): Promise<Decision> {
  const policy = worker.policies.cached(claimed.policy_hash) ?? (await worker.policies.load(claimed.policy_hash));
  const decision = policy.decide(requestOf(worker.rules, entry, claimed));
  if (decision.code !== 'SPEC_HASH_MISMATCH') return decision;
  // The grant may have been given a moment ago, and the news be still on its way.
  await worker.rules.refresh();
  return policy.decide(requestOf(worker.rules, entry, claimed));
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

/** What a tool answers is held to what it declares. What was cut is not: it cannot be whole. */
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
      log: (stream, text) => worker.logs.write(claimed, stream, text),
      keep: (file) => worker.keep(claimed, file),
      secret: async (name, hosts) => {
        const value = await worker.secret(claimed, name, hosts);
        redact.learn(value);
        return value;
      },
      checkpoint: async (state, repeatable) => {
        await worker.questions.checkpoint(claimed, { state, repeatable });
        running.repeatable = repeatable;
      },
      resumed: () => worker.questions.resumed(claimed),
      ask: (question) => worker.questions.ask(running, question, decision.limits.timeout_ms),
      get session() {
        return worker.session(claimed);
      },
    }),
  );
}
