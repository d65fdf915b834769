import { readFileSync } from 'node:fs';
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
import { areShort } from '@capstan/queue';
import { createRunners, type DbConnection, dbConnections, llmSettings } from '@capstan/runners';
import { parseSecretKeys } from '@capstan/store/secret';
import { Registry } from 'prom-client';
import { z } from 'zod';
import { createAnalyzePorts } from './analyze-ports.js';
import { type WorkerEnv, workerEnv } from './env.js';
import { createExtensionTools } from './extension-tools.js';
import { createMcpPorts } from './mcp-ports.js';
import { startWorker } from './start-worker.js';

/** Short runs are limited by round trips to Postgres, so they are processed in larger batches. */
const SHORT_RUNS = 200;
/** A page takes most of a core while it loads. */
const BROWSER_PAGES = 4;
const defaultConcurrency = (runner: QueueName) =>
  areShort(runner) ? SHORT_RUNS : runner === 'browser' ? BROWSER_PAGES : 16;

/** `capstan worker`: runs until it is told to stop. */
export async function runWorker(options: { runners: QueueName[]; concurrency?: number | undefined }): Promise<void> {
  const env = workerEnv(process.env);
  const told = untilSignal();
  const log = createLog('worker', env.CAPSTAN_LOG_LEVEL, {
    format: env.CAPSTAN_LOG_FORMAT,
    redact: ownRedactor(env).text,
  });
  const telemetry = await startTelemetry('worker', process.env, log);
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
      log.fatal({ runner }, 'work is waiting but this worker takes none; exiting so that it can be restarted');
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

/** The options that all workers of an installation share. */
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

const Document = z.record(z.string(), z.string());

/** The databases that tools may query: from the environment, and from the JSON file CAPSTAN_DB_FILE. */
const databaseSettings = (env: NodeJS.ProcessEnv): DbConnection[] => {
  const path = env.CAPSTAN_DB_FILE;
  return dbConnections(env, path === undefined || path === '' ? {} : readConnections(path));
};

const readConnections = (path: string): Record<string, string> => {
  const read = Document.safeParse(parse(readFileSync(path, 'utf8')));
  // The error must not quote the file, because its URLs contain passwords.
  if (!read.success) throw new Error(`CAPSTAN_DB_FILE: ${path} is not a JSON object of names and URLs`);
  return read.data;
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
