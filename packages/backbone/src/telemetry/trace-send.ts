import { Failure, holdIdOf } from '@capstan/contracts';
import type { NewInvocation } from '@capstan/store/invocation';
import { type Attributes, contextFrom, fail, type Span, SpanKind, startSpan, traceparentOf } from './tracing.js';

/**
 * Traces the commit of calls as a span `send <runner>`, by the messaging conventions; the attempts of the calls are its children. A bulk
 * submission has one span for all its calls. The decision on a single call, and its hold, are events of the span. `parent` is a
 * `traceparent`; the default is the active span. For when tracing is on.
 */
export async function traceSend<T>(
  rows: readonly NewInvocation[],
  commit: () => Promise<T>,
  parent?: string | null,
): Promise<T> {
  const [first] = rows;
  if (!first) return commit();
  const runners = new Set(rows.map(({ runner }) => runner));
  const destination = runners.size === 1 ? first.runner : 'several';
  const span = startSpan(`send ${destination}`, {
    kind: SpanKind.PRODUCER,
    ...(parent ? { parent: contextFrom({ traceparent: parent }) } : {}),
    attributes: {
      'messaging.system': 'capstan',
      'messaging.operation.name': 'send',
      'messaging.operation.type': 'send',
      'messaging.destination.name': destination,
      'capstan.tenant': first.tenant,
      ...(rows.length === 1
        ? { 'messaging.message.id': first.invocation_id, 'capstan.tool_id': first.tool_id }
        : { 'messaging.batch.message_count': rows.length }),
      ...(first.run_id === null ? {} : { 'capstan.run_id': first.run_id }),
    },
  });
  const traceparent = traceparentOf(span);
  for (const row of rows) row.traceparent = traceparent;
  try {
    return await commit();
  } catch (error) {
    fail(span, error instanceof Failure ? error.kind : 'error');
    throw error;
  } finally {
    // After the commit, because a quota may have changed the decision.
    if (rows.length === 1) noteDecision(span, first);
    span.end();
  }
}

function noteDecision(span: Span, { invocation_id, decision, status }: NewInvocation): void {
  const attributes: Attributes = {
    'capstan.policy.effect': decision.effect,
    'capstan.policy.reason': decision.reason,
    ...(decision.code ? { 'capstan.policy.code': decision.code } : {}),
  };
  span.addEvent('policy.decision', attributes);
  if (status === 'held') span.addEvent('hold', { 'capstan.hold_id': holdIdOf(invocation_id) });
  if (status === 'deferred') span.addEvent('deferred');
}
