import {
  type Attributes,
  type Context,
  context,
  type Link,
  propagation,
  ROOT_CONTEXT,
  type Span,
  type SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';

export { type Attributes, type Span, SpanKind } from '@opentelemetry/api';

const tracer = trace.getTracer('capstan');
let tracing: { content: boolean } | null = null;

/** Global for the process, like OpenTelemetry's API. */
export function enableTracing(options: { content: boolean }): void {
  tracing = options;
}

/** Check this before collecting anything for a span. */
export const isTracing = (): boolean => tracing !== null;
/** Whether spans may carry inputs and results. */
export const tracesContent = (): boolean => tracing?.content ?? false;

type SpanOptions = {
  kind?: SpanKind;
  attributes?: Attributes;
  links?: Link[];
  /** The parent span; by default the active one, if any. */
  parent?: Context;
};

export const startSpan = (name: string, { parent = context.active(), ...options }: SpanOptions = {}): Span =>
  tracer.startSpan(name, options, parent);

/** The active span, if any. */
export const activeSpan = (): Span | undefined => (tracing ? trace.getActiveSpan() : undefined);

export const within = <T>(span: Span, work: () => T): T => context.with(contextOf(span), work);

export const contextOf = (span: Span): Context => trace.setSpan(ROOT_CONTEXT, span);

/** The value of the W3C Trace Context header `traceparent`. */
export function traceparentOf(span: Span): string | undefined {
  const carrier: { traceparent?: string } = {};
  propagation.inject(contextOf(span), carrier);
  return carrier.traceparent;
}

/** The parent for work that is started here and runs elsewhere. */
export function activeTraceparent(): string | undefined {
  const span = activeSpan();
  return span && traceparentOf(span);
}

/** An unreadable `traceparent` counts as absent. */
export const contextFrom = (carrier: object): Context => propagation.extract(ROOT_CONTEXT, carrier);

export const linksTo = (parent: Context): Link[] => {
  const linked = trace.getSpanContext(parent);
  return linked ? [{ context: linked }] : [];
};

/** The trace that a `traceparent` belongs to, for log lines: `00-<trace>-<span>-<flags>`. */
export const traceIdOf = (traceparent: string | null | undefined): string | undefined => traceparent?.split('-')[1];

export function fail(span: Span, type: string, message?: string): void {
  span.setAttribute('error.type', type);
  span.setStatus({ code: SpanStatusCode.ERROR, ...(message === undefined ? {} : { message }) });
}
