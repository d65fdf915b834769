import { submittedAt } from '@capstan/admission';
import {
  type Attributes,
  contextFrom,
  contextOf,
  fail,
  isTracing,
  linksTo,
  type Span,
  SpanKind,
  startSpan,
  traceIdOf,
  traceparentOf,
  tracesContent,
} from '@capstan/backbone';
import { type Decision, type Descriptor, type JsonObject, loneRunId } from '@capstan/contracts';
import type { Redactor } from '@capstan/redact';
import type { RunOutcome } from '@capstan/runners';
import type { Claimed, Settlement } from '@capstan/store/claim';

/**
 * The spans of an attempt: `process <runner>`, by the conventions for messaging, is a child of the span that submitted the call.
 * A retry is a separate trace with a link to that span, because hours may lie between them. Below are `execute_tool <tool>`, by
 * the conventions for generative AI, and `settle <runner>`.
 */
export class AttemptTrace {
  readonly #claimed: Claimed;
  readonly #process: Span;
  #tool: Span | null = null;
  #settle: Span | null = null;

  constructor(claimed: Claimed) {
    this.#claimed = claimed;
    const submitted = contextFrom({ traceparent: claimed.traceparent ?? undefined });
    const isRetry = claimed.attempt > 1;
    this.#process = startSpan(`process ${claimed.runner}`, {
      kind: SpanKind.CONSUMER,
      parent: isRetry ? contextFrom({}) : submitted,
      links: isRetry ? linksTo(submitted) : [],
      attributes: { ...messaging(claimed, 'process'), 'capstan.attempt': claimed.attempt },
    });
    const submitted_at = submittedAt(claimed.invocation_id);
    if (!isRetry && submitted_at !== null)
      this.#process.addEvent('wait', { 'capstan.wait_ms': Math.max(0, Date.now() - submitted_at) });
  }

  get trace_id(): string {
    return this.#process.spanContext().traceId;
  }

  decided(decision: Decision): void {
    this.#process.addEvent('policy.decision', decisionAttributes(decision));
  }

  approved(): void {
    this.#process.addEvent('hold.approved');
  }

  /** Returns the traceparent for the tool. */
  began(
    { tool_id, invocation_id }: Claimed,
    descriptor: Descriptor,
    inputs: JsonObject,
    redact: Redactor,
  ): string | undefined {
    this.#tool = startSpan(`execute_tool ${tool_id}`, {
      kind: SpanKind.INTERNAL,
      parent: contextOf(this.#process),
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': tool_id,
        'gen_ai.tool.call.id': invocation_id,
        'gen_ai.tool.type': descriptor.runner === 'db' ? 'datastore' : 'function',
        ...(tracesContent() ? { 'gen_ai.tool.call.arguments': JSON.stringify(redact.json(inputs)) } : {}),
      },
    });
    return traceparentOf(this.#tool);
  }

  ran(outcome: RunOutcome | null, redact: Redactor): void {
    if (!this.#tool) return;
    if (outcome?.success && tracesContent())
      this.#tool.setAttribute('gen_ai.tool.call.result', JSON.stringify(redact.json(outcome.payload)));
    if (outcome && !outcome.success) fail(this.#tool, outcome.kind);
    if (!outcome) fail(this.#tool, 'stopped');
    this.#tool.end();
    this.#tool = null;
  }

  /** Ends the span of the tool if it is still open, and begins the settlement. */
  ended({ outcome, status }: Settlement): void {
    if (this.#tool) fail(this.#tool, outcome);
    this.#tool?.end();
    this.#process.setAttribute('capstan.outcome', outcome);
    if (status !== 'succeeded') fail(this.#process, outcome);
    this.#settle = startSpan(`settle ${this.#claimed.runner}`, {
      kind: SpanKind.CLIENT,
      parent: contextOf(this.#process),
      attributes: messaging(this.#claimed, 'settle'),
    });
  }

  /** Null: the settlement was refused, or left to the coordinator. */
  settled(status: string | null): void {
    if (this.#settle && status) this.#settle.setAttribute('capstan.status', status);
    if (this.#settle && !status) fail(this.#settle, 'refused');
    this.#settle?.end();
    this.#process.end();
  }
}

export const traceAttempt = (claimed: Claimed): AttemptTrace | null => (isTracing() ? new AttemptTrace(claimed) : null);

/** The ids that connect the log lines of a call. */
export const idsOf = ({ invocation_id, run_id, tenant, traceparent }: Claimed, traced: AttemptTrace | null) => ({
  trace_id: traced?.trace_id ?? traceIdOf(traceparent),
  invocation_id,
  run_id: run_id ?? loneRunId(invocation_id),
  tenant,
});

const messaging = ({ invocation_id, runner, tenant, run_id }: Claimed, operation: string): Attributes => ({
  'messaging.system': 'capstan',
  'messaging.destination.name': runner,
  'messaging.operation.name': operation,
  'messaging.operation.type': operation,
  'messaging.message.id': invocation_id,
  'capstan.tenant': tenant,
  ...(run_id === null ? {} : { 'capstan.run_id': run_id }),
});

const decisionAttributes = ({ effect, reason, code }: Decision): Attributes => ({
  'capstan.policy.effect': effect,
  'capstan.policy.reason': reason,
  ...(code === undefined || code === null ? {} : { 'capstan.policy.code': code }),
});
