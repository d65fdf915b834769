import { BackboneEnv, readEnv } from '../env.js';
import type { Log } from '../log.js';
import { enableTracing } from './tracing.js';

export type Telemetry = { stop(): Promise<void> };

/** Either of these enables tracing. */
const ENDPOINTS = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] as const;

/**
 * Starts sending spans if OpenTelemetry's own variables name an endpoint. Otherwise its SDK is not loaded, and tracing calls cost one
 * check of a boolean.
 */
export async function startTelemetry(service: string, env: NodeJS.ProcessEnv, log: Log): Promise<Telemetry> {
  if (!isConfigured(env)) return { stop: () => Promise.resolve() };
  const { startSdk } = await import('./sdk.js');
  const sdk = startSdk(service, env, log);
  const { CAPSTAN_TRACE_CONTENT: content } = readEnv(BackboneEnv.pick({ CAPSTAN_TRACE_CONTENT: true }), env);
  enableTracing({ content });
  return sdk;
}

/** As OpenTelemetry reads its own variables. */
const isTrue = (value: string | undefined): boolean => value?.toLowerCase() === 'true' || value === '1';

function isConfigured(env: NodeJS.ProcessEnv): boolean {
  if (isTrue(env.OTEL_SDK_DISABLED) || env.OTEL_TRACES_EXPORTER === 'none') return false;
  return ENDPOINTS.some((name) => env[name]) || env.OTEL_TRACES_EXPORTER === 'otlp';
}
