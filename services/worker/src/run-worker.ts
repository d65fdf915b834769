import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Backbone,
  createLog,
  openArtifacts,
  openBackbone,
  openProbes,
  processMetrics,
  requireSchema,
  startTelemetry,
  untilSignal,
} from '@capstan/backbone';
import type { QueueName } from '@capstan/contracts';
import { ownRedactor, secretSources } from '@capstan/execution';
import { createRunners, llmSettings } from '@capstan/runners';
import { parseSecretKeys } from '@capstan/store';
import { Registry } from 'prom-client';
import { createAnalyzePorts } from './analyze-ports.js';
import { databaseSettings } from './database-settings.js';
import { type WorkerEnv, workerEnv } from './env.js';
import { createExtensionTools } from './extension-tools.js';
import { createMcpPorts } from './mcp-ports.js';
import { startWorker } from './start-worker.js';

/** Short runs are limited by the rounds to Postgres, so they travel in larger groups. */
const SHORT_RUNS: ReadonlySet<QueueName> = new Set(['builtin', 'file']);
/** A page takes most of a core while it loads. */
const BROWSER_PAGES = 4;
const defaultConcurrency = (runner: QueueName) =>
  SHORT_RUNS.has(runner) ? 200 : runner === 'browser' ? BROWSER_PAGES : 16;

/** `capstan worker`: runs until it is told to stop. */
export async function runWorker(options: { runners: QueueName[]; concurrency?: number | undefined }): Promise<void> {
  const env = workerEnv(process.env);
  const told = untilSignal();
  const log = createLog('worker', env.CAPSTAN_LOG_LEVEL, {
    format: env.CAPSTAN_LOG_FORMAT,
    redact: ownRedactor(env).text,
  });
  const telemetry = await startTelemetry('worker', process.env);
  await requireSchema(env.DATABASE_URL, log);
  const backbone = await openBackbone({
    database_url: env.DATABASE_URL,
    redis_url: env.REDIS_URL,
    name: 'capstan-worker',
    log,
  });
  const worker = await startWorker(backbone, {
    ...workerOptions(env, backbone),
    runner_types: options.runners,
    concurrency: (runner) => options.concurrency ?? defaultConcurrency(runner),
    onWedged: (runner) => {
      log.fatal({ runner }, 'work waits and nothing is taken: ending, to be started again');
      process.exit(1);
    },
  });
  const registry = Registry.merge([processMetrics('worker', backbone), worker.metrics.registry]);
  const probes = await openProbes(backbone, registry, env);
  await told;
  await probes.leave();
  await worker.stop();
  await probes.close();
  await backbone.close();
  await telemetry.stop();
}

/** What is the same for every worker of an installation. */
export function workerOptions(env: Omit<WorkerEnv, 'DATABASE_URL'> & { DATABASE_URL?: string }, backbone: Backbone) {
  const work_dir = env.CAPSTAN_WORK_DIR ?? join(tmpdir(), 'capstan-work');
  return {
    concurrency: defaultConcurrency,
    lease_ms: env.CAPSTAN_LEASE_MS,
    drain_ms: env.CAPSTAN_DRAIN_MS,
    wedge_ms: env.CAPSTAN_WEDGE_MS,
    artifacts: openArtifacts(env),
    runners: createRunners({
      work_dir,
      extension_tools: createExtensionTools(backbone.store, join(work_dir, 'extension-tools')),
      workspace: env.CAPSTAN_WORKSPACE,
      tool_uids: env.CAPSTAN_TOOL_UIDS,
      env: process.env,
      mcp: createMcpPorts(backbone, parseSecretKeys(env.CAPSTAN_SECRETS_KEY)),
      llm: llmSettings(env),
      analyze: createAnalyzePorts(backbone.store),
      databases: databaseSettings(process.env),
    }),
    redactor: ownRedactor(env),
    secrets: secretSources(env),
  };
}
