import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLog, openBackbone, untilSignal } from '@capstan/backbone';
import { BUILTIN_TOOLS, createCatalog } from '@capstan/catalog';
import type { RunnerType } from '@capstan/contracts';
import { createRedactor } from '@capstan/redact';
import { createRunners } from '@capstan/runners';
import { type WorkerEnv, workerEnv } from './env.js';
import { startWorker } from './start-worker.js';

/** Short runs are limited by the rounds to Postgres, so they travel in larger groups. */
const SHORT_RUNS: ReadonlySet<RunnerType> = new Set(['builtin', 'file']);
const defaultConcurrency = (runner: RunnerType) => (SHORT_RUNS.has(runner) ? 200 : 16);

/** `capstan worker`: runs until it is told to stop. */
export async function runWorker(options: { runners: RunnerType[]; concurrency?: number | undefined }): Promise<void> {
  const env = workerEnv(process.env);
  const log = createLog('worker', env.CAPSTAN_LOG_LEVEL);
  const backbone = await openBackbone({
    database_url: env.DATABASE_URL,
    redis_url: env.REDIS_URL,
    name: 'capstan-worker',
    log,
  });
  const worker = await startWorker(backbone, {
    ...workerOptions(env),
    runner_types: options.runners,
    concurrency: (runner) => options.concurrency ?? defaultConcurrency(runner),
    onWedged: (runner) => {
      log.fatal({ runner }, 'work waits and nothing is taken: ending, to be started again');
      process.exit(1);
    },
  });
  await untilSignal();
  await worker.stop();
  await backbone.close();
}

/** What is the same for every worker of an installation. */
export function workerOptions(env: Omit<WorkerEnv, 'DATABASE_URL'> & { DATABASE_URL?: string }) {
  return {
    concurrency: defaultConcurrency,
    lease_ms: env.CAPSTAN_LEASE_MS,
    drain_ms: env.CAPSTAN_DRAIN_MS,
    wedge_ms: env.CAPSTAN_WEDGE_MS,
    catalog: createCatalog(BUILTIN_TOOLS),
    runners: createRunners({ work_dir: env.CAPSTAN_WORK_DIR ?? join(tmpdir(), 'capstan-work'), env: process.env }),
    redactor: createRedactor({ values: ownSecrets(env) }),
  };
}

/** A tool must never see, and a result never hold, what the worker itself connects with. */
function ownSecrets(env: {
  DATABASE_URL?: string;
  REDIS_URL?: string | undefined;
  CAPSTAN_API_KEY?: string | undefined;
}) {
  const passwords = [env.DATABASE_URL, env.REDIS_URL].flatMap((url) => {
    const password = url && URL.canParse(url) ? decodeURIComponent(new URL(url).password) : '';
    return password.length >= 8 ? [password] : [];
  });
  return env.CAPSTAN_API_KEY ? [...passwords, env.CAPSTAN_API_KEY] : passwords;
}
