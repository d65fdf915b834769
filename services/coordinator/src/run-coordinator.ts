import {
  createLog,
  openArtifacts,
  openBackbone,
  openProbes,
  openSealKey,
  processMetrics,
  requireSchema,
  startTelemetry,
  storeMetrics,
  untilSignal,
} from '@capstan/backbone';
import { Registry } from 'prom-client';
import { coordinatorEnv, retentionOf, webhookOptions } from './env.js';
import { startCoordinator } from './start-coordinator.js';

/** `capstan coordinator`: runs until it receives a signal to stop. */
export async function runCoordinator(): Promise<void> {
  const env = coordinatorEnv(process.env);
  const told = untilSignal();
  const log = createLog('coordinator', env.CAPSTAN_LOG_LEVEL, { format: env.CAPSTAN_LOG_FORMAT });
  const telemetry = await startTelemetry('coordinator', process.env, log);
  await requireSchema(env.DATABASE_URL, log);
  const backbone = await openBackbone({
    database_url: env.DATABASE_URL,
    redis_url: env.REDIS_URL,
    name: 'capstan-coordinator',
    connections: 6,
    log,
  });
  const coordinator = startCoordinator(backbone, {
    sweep_ms: env.CAPSTAN_SWEEP_MS,
    retention: retentionOf(env),
    artifacts: openArtifacts(env),
    seal_key: openSealKey(env),
    webhooks: webhookOptions(env),
  });
  const probes = await openProbes(
    backbone,
    Registry.merge([processMetrics('coordinator', backbone), storeMetrics(backbone), coordinator.metrics.registry]),
    env,
  );
  await told;
  await probes.leave();
  await coordinator.stop();
  await probes.close();
  await backbone.close();
  await telemetry.stop();
}
