import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Backbone, createLog, openArtifacts, openBackbone, openSealKey, startTelemetry } from '@capstan/backbone';
import { RUNNER_QUEUES } from '@capstan/contracts';
import { retentionOf, startCoordinator, webhookOptions } from '@capstan/coordinator';
import { ownRedactor } from '@capstan/execution';
import { ensureExtension, gatewayOptions, prepareFirstStart, startGateway } from '@capstan/gateway';
import { migrate } from '@capstan/store';
import { newSecret } from '@capstan/store/key';
import { canContain, startWorker, workerOptions } from '@capstan/worker';
import { startEmbeddedPostgres } from './embedded-postgres/start-embedded-postgres.js';
import { ensureInstallationPolicy } from './ensure-installation-policy.js';
import type { StandaloneEnv } from './env.js';
import { ownAddress } from './own-address.js';

export type Standalone = { url: string; key: string; data_dir: string; stop(): Promise<void>; failed: Promise<never> };

/** Starts all services in one process, on an embedded Postgres unless DATABASE_URL is set. */
export async function startStandalone(env: StandaloneEnv): Promise<Standalone> {
  const data_dir = resolve(env.CAPSTAN_DATA_DIR);
  env.CAPSTAN_ARTIFACTS_DIR ??= join(data_dir, 'artifacts');
  await mkdir(data_dir, { recursive: true });
  /** How to stop what was started. Called in reverse order, also if the start fails halfway. */
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
    const telemetry = await startTelemetry('standalone', process.env, log);
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
      log.warn(
        'no sandbox works on this machine, so LOW risk tools of the tenant default run without one; see capstan doctor',
      );
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
    onWedged: (runner) => backbone.log.error({ runner }, 'work is waiting but the worker takes none; restart Capstan'),
  });
  started.push(worker.stop);
  const gateway = await startGateway(backbone, {
    ...listening,
    // Only reachable from this machine, so there may be just one person.
    solo_release: isLoopback(listening.host),
    service: 'standalone',
    metrics_beside: [worker.metrics.registry, coordinator.metrics.registry],
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
      `The embedded Postgres stopped unexpectedly (${signal ?? code}); its log is ${join(data_dir, 'postgres.log')}.`,
    );
  });
  // The caller awaits it later. A failure before that must not be an unhandled rejection.
  failed.catch(() => {});
  return { url: postgres.url, failed };
}

const never = () => new Promise<never>(() => {});

/** The configured key, else that of an earlier start, else a new one. Stored where the CLI looks for it. */
async function adminKey(data_dir: string, set: string | undefined): Promise<string> {
  const file = join(data_dir, 'admin.key');
  const key = set ?? (await readKey(file)) ?? newSecret();
  await writeFile(file, `${key}\n`, { mode: 0o600 });
  await chmod(file, 0o600);
  return key;
}

async function readKey(file: string): Promise<string | null> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text.trim() || null;
}

/** Next to the bundled command, and in the repository. */
const PLACES = ['./examples/extensions/', '../../../packages/examples/extensions/'];

/** The folders of the extensions that a first start installs; empty if the examples are missing. */
function exampleExtensions(): string[] {
  const folders = PLACES.map((place) => fileURLToPath(new URL(`${place}text-tools`, import.meta.url)));
  return folders.filter((folder) => existsSync(folder)).slice(0, 1);
}

/** The configured key, else that of an earlier start, else a new one, so that secrets can be stored without any setup. */
async function secretsKey(data_dir: string, set: string | undefined): Promise<string> {
  if (set !== undefined) return set;
  const file = join(data_dir, 'secrets.key');
  const kept = (await readFile(file, 'utf8').catch(() => '')).trim();
  if (kept !== '') return kept;
  const fresh = randomBytes(32).toString('base64');
  await writeFile(file, `${fresh}\n`, { mode: 0o600, flag: 'wx' });
  return fresh;
}
