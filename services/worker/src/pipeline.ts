import type { CatalogEntry } from '@capstan/catalog';
import { type Decision, Failure } from '@capstan/contracts';
import type { Runner, RunOutcome } from '@capstan/runners';
import { type Claimed, isUnavailable } from '@capstan/store';
import { runUnderDeadline } from './run-under-deadline.js';
import { Running } from './running.js';
import { type Finished, toSettlement } from './to-settlement.js';
import type { WorkerContext } from './worker-context.js';

/**
 * The way of one invocation through a worker, from a claim (its attempt is on record, `attempt` is its fencing token) to
 * a settlement: load → decide again → run under a deadline → redact → hash → settle → publish.
 *
 * Resolves when the tool has ended and the slot is free; the settlement goes on in the background, together with others.
 */
export async function runInvocation(worker: WorkerContext, claimed: Claimed): Promise<void> {
  const running = new Running(claimed);
  worker.running.set(claimed.invocation_id, running);
  const started = performance.now();
  const finished = await attempt(worker, running);
  const settlement = toSettlement(worker, running, finished, performance.now() - started);
  // Whoever sees the end of an invocation finds all its log lines.
  const logged = worker.logs.written(claimed);
  if (logged) await logged;
  worker.running.delete(claimed.invocation_id);
  worker.settle(running, settlement);
}

async function attempt(worker: WorkerContext, running: Running): Promise<Finished> {
  const { claimed } = running;
  try {
    const tool = load(worker, claimed);
    const decision = await decideAgain(worker, claimed, tool.entry);
    if (!decision.allowed) return { kind: 'denied', decision };
    // A process that was frozen after its claim must not start what others have taken over meanwhile.
    if (!worker.isLeaseHeld()) return { kind: 'unstarted' };
    const outcome = await run(worker, running, tool, decision);
    return { kind: 'ran', outcome, descriptor: tool.entry.descriptor };
  } catch (error) {
    // Postgres was away before the tool was started, by nothing but the look at its policy.
    if (isUnavailable(error)) return { kind: 'unstarted' };
    worker.log.error({ err: error, invocation_id: claimed.invocation_id }, 'an attempt failed outside of its tool');
    return { kind: 'broke', error };
  }
}

type Tool = { entry: CatalogEntry; runner: Runner };

function load(worker: WorkerContext, claimed: Claimed): Tool {
  const entry = worker.catalog.get(claimed.tool_id);
  const runner = entry && worker.runners.get(entry.descriptor.runner);
  if (!entry || !runner)
    throw new Failure('UNKNOWN_TOOL', { detail: `This worker does not know ${claimed.tool_id}.`, retryable: false });
  return { entry, runner };
}

/** Against the very version of the policy that admitted it. */
async function decideAgain(worker: WorkerContext, claimed: Claimed, entry: CatalogEntry): Promise<Decision> {
  const policy = worker.policies.cached(claimed.policy_hash) ?? (await worker.policies.load(claimed.policy_hash));
  return policy.decide({ descriptor: entry.descriptor, mode: claimed.mode, timeout_ms: claimed.timeout_ms });
}

function run(worker: WorkerContext, running: Running, tool: Tool, decision: Decision): Promise<RunOutcome | null> {
  const { claimed } = running;
  return runUnderDeadline(running, decision.limits.timeout_ms, () =>
    tool.runner.run({
      invocation_id: claimed.invocation_id,
      attempt: claimed.attempt,
      tenant: claimed.tenant,
      actor: claimed.actor,
      session_id: claimed.session_id,
      descriptor: tool.entry.descriptor,
      inputs: claimed.inputs,
      limits: decision.limits,
      redact: worker.redactor,
      get signal() {
        return running.signal;
      },
      log: (stream, text) => worker.logs.write(claimed, stream, text),
      keep: (file) => worker.keep(claimed, file),
      secret: (name) => worker.secret(claimed, name),
    }),
  );
}
