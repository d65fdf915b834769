import { setTimeout as delay } from 'node:timers/promises';
import { context, propagation, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { setGlobalErrorHandler, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
  serviceInstanceIdDetector,
} from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Log } from '../log.js';
import { VERSION } from '../version.js';
import type { Telemetry } from './start-telemetry.js';

/** A collector that does not answer holds up the end of a process for no longer than this. */
const LAST_SPANS_MS = 2000;
/** How often the log says that spans are lost. */
const QUIET_MS = 60_000;

/** Configured by OpenTelemetry's own variables; the exporters read theirs themselves. */
export function startSdk(service: string, env: NodeJS.ProcessEnv, log: Log): Telemetry {
  const delay_ms = Number(env.OTEL_BSP_SCHEDULE_DELAY);
  const provider = new TracerProvider({
    sampler: samplerOf(env),
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': `capstan-${service}`, 'service.version': VERSION }))
      .merge(detectResources({ detectors: [serviceInstanceIdDetector, envDetector] })),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: exporterOf(env),
        ...(delay_ms > 0 ? { scheduledDelayMillis: delay_ms } : {}),
      }),
    ],
  });
  trace.setGlobalTracerProvider(provider);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  reportLosses(log);
  // Spans that cannot be sent at shutdown are dropped.
  const sent = () => provider.shutdown().catch(() => {});
  return { stop: () => Promise.race([sent(), delay(LAST_SPANS_MS)]) };
}

function reportLosses(log: Log): void {
  let last = Number.NEGATIVE_INFINITY;
  setGlobalErrorHandler((error) => {
    const now = performance.now();
    if (now - last < QUIET_MS) return;
    last = now;
    log.warn({ error: error instanceof Error ? error.message : String(error) }, 'traces could not be sent');
  });
}

function exporterOf(env: NodeJS.ProcessEnv): SpanExporter {
  const protocol = env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL || env.OTEL_EXPORTER_OTLP_PROTOCOL || 'http/protobuf';
  if (protocol === 'http/protobuf') return new ProtobufExporter();
  if (protocol === 'http/json') return new JsonExporter();
  throw new Error(
    `OTEL_EXPORTER_OTLP_PROTOCOL is ${protocol}, which is not supported. Set it to http/protobuf or http/json.`,
  );
}

function samplerOf(env: NodeJS.ProcessEnv): Sampler {
  const name = env.OTEL_TRACES_SAMPLER || 'parentbased_always_on';
  const ratio = Number(env.OTEL_TRACES_SAMPLER_ARG || 1);
  const roots: Record<string, Sampler> = {
    always_on: new AlwaysOnSampler(),
    always_off: new AlwaysOffSampler(),
    traceidratio: new TraceIdRatioBasedSampler(ratio),
  };
  const root = roots[name.replace(/^parentbased_/, '')];
  if (!root)
    throw new Error(
      `OTEL_TRACES_SAMPLER is ${name}, which is not supported. Use always_on, always_off or traceidratio, with or without parentbased_.`,
    );
  return name.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root;
}
