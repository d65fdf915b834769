import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type Backbone, createLog, openArtifacts, openBackbone, openSealKey, startTelemetry } from '@capstan/backbone';
import { RUNNER_QUEUES } from '@capstan/contracts';
import { retentionOf, startCoordinator, webhookOptions } from '@capstan/coordinator';
import { ownRedactor } from '@capstan/execution';
import { ensureExtension, gatewayOptions, prepareFirstStart, startGateway } from '@capstan/gateway';
import { migrate } from '@capstan/store';
import { canContain, startWorker, workerOptions } from '@capstan/worker';
import { adminKey } from './admin-key.js';
import { startEmbeddedPostgres } from './embedded-postgres/start-embedded-postgres.js';
import { ensureInstallationPolicy } from './ensure-installation-policy.js';
import type { StandaloneEnv } from './env.js';
import { exampleExtensions } from './example-extensions.js';
import { ownAddress } from './own-address.js';
import { secretsKey } from './secrets-key.js';

export type Standalone = { url: string; key: string; data_dir: string; stop(): Promise<void>; failed: Promise<never> };

/** Everything in one process, on an embedded Postgres unless DATABASE_URL names another. */
export async function startStandalone(env: StandaloneEnv): Promise<Standalone> {
  const data_dir = resolve(env.CAPSTAN_DATA_DIR);
  env.CAPSTAN_ARTIFACTS_DIR ??= join(data_dir, 'artifacts');
  await mkdir(data_dir, { recursive: true });
  /** What was started, to be stopped in reverse, also when the start fails half-way. */
  const started: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    for (const end of started.reverse().splice(0)) await end();
  };
  try {
    const database = env.DATABASE_URL ? { url: env.DATABASE_URL, failed: never() } : await embedded(data_dir, started);
    const log = createLog('capstan', env.CAPSTAN_LOG_LEVEL, {
      format: env.CAPSTAN_LOG_FORMAT,
      redact: ownRedactor(env).text,
    });
    const telemetry = await startTelemetry('standalone', process.env);
    started.push(telemetry.stop);
    const backbone = await openBackbone({
      database_url: database.url,
      redis_url: env.REDIS_URL,
      name: 'capstan',
      connections: 20,
      log,
    });
    started.push(() => backbone.close());
    await migrate(backbone.store);
    await backbone.catalog.refresh();
    const key = await adminKey(data_dir, env.CAPSTAN_API_KEY);
    const secrets_key = await secretsKey(data_dir, env.CAPSTAN_SECRETS_KEY);
    const work_dir = env.CAPSTAN_WORK_DIR ?? join(data_dir, 'work');
    if (await ensureInstallationPolicy(backbone.store, () => canContain(work_dir)))
      log.warn('no sandbox works here, so tools of LOW risk of the tenant default run without one; see capstan doctor');
    await prepareFirstStart(backbone, key);
    for (const folder of exampleExtensions()) await ensureExtension(backbone, folder);
    const url = await startServices(
      backbone,
      { ...env, DATABASE_URL: database.url, CAPSTAN_API_KEY: key, CAPSTAN_SECRETS_KEY: secrets_key },
      data_dir,
      started,
    );
    return { url, key, data_dir, stop, failed: database.failed };
  } catch (error) {
    await stop();
    throw error;
  }
}

type Started = (() => Promise<unknown>)[];

async function startServices(
  backbone: Backbone,
  env: StandaloneEnv & { DATABASE_URL: string },
  data_dir: string,
  started: Started,
): Promise<string> {
  const listening = gatewayOptions(env);
  const coordinator = startCoordinator(backbone, {
    sweep_ms: env.CAPSTAN_SWEEP_MS,
    retention: retentionOf(env),
    artifacts: openArtifacts(env),
    seal_key: openSealKey(env),
    webhooks: { public_url: ownAddress(listening), ...webhookOptions(env) },
  });
  started.push(coordinator.stop);
  const options = workerOptions({ ...env, CAPSTAN_WORK_DIR: env.CAPSTAN_WORK_DIR ?? join(data_dir, 'work') }, backbone);
  const worker = await startWorker(backbone, {
    ...options,
    runner_types: RUNNER_QUEUES.filter((runner) => options.runners.has(runner)),
    onWedged: (runner) => backbone.log.error({ runner }, 'work waits and nothing is taken; restart Capstan'),
  });
  started.push(worker.stop);
  const gateway = await startGateway(backbone, {
    ...listening,
    // Somebody's own machine: nobody else can reach it.
    solo_release: isLoopback(listening.host),
    service: 'standalone',
    metrics_beside: [worker.metrics.registry],
    attempts: worker.metrics,
  });
  started.push(gateway.stop);
  return gateway.url;
}

const isLoopback = (host: string): boolean => host === 'localhost' || host === '::1' || host.startsWith('127.');

async function embedded(data_dir: string, started: Started) {
  const postgres = await startEmbeddedPostgres({ data_dir: join(data_dir, 'postgres') });
  let stopping = false;
  started.push(() => {
    stopping = true;
    return postgres.stop();
  });
  const failed = postgres.exited.then(({ code, signal }) => {
    if (stopping) return never();
    throw new Error(
      `The embedded Postgres ended by itself (${signal ?? code}); its log is ${join(data_dir, 'postgres.log')}.`,
    );
  });
  // Looked at by whoever waits for the standalone; a failure before that must not end the process unhandled.
  failed.catch(() => {});
  return { url: postgres.url, failed };
}

const never = () => new Promise<never>(() => {});
