import { join } from 'node:path';
import { type Backbone, createLog, openBackbone } from '@capstan/backbone';
import { createClient } from '@capstan/client';
import { INSTALLATION_POLICY, type JsonObject, type PolicyDocument, RUNNER_QUEUES } from '@capstan/contracts';
import { startCoordinator, type WebhookOptions } from '@capstan/coordinator';
import { type GatewayOptions, prepareFirstStart, startGateway } from '@capstan/gateway';
import type { SealKey } from '@capstan/integrity';
import { createRedactor } from '@capstan/redact';
import { createRunners, type LlmSettings } from '@capstan/runners';
import { ensurePolicy } from '@capstan/store/policy';
import { parseSecretKeys } from '@capstan/store/secret';
import { createAnalyzePorts, createExtensionTools, createMcpPorts, startWorker, type Worker } from '@capstan/worker';
import { atEnd } from '../fixtures/at-end.js';
import { createTestDatabase } from '../fixtures/create-test-database.js';
import { OPEN_INSTALLATION } from '../fixtures/open-installation.js';
import { startTestRedis } from '../fixtures/start-test-redis.js';
import { tempDir } from '../fixtures/temp-dir.js';

export const ADMIN_KEY = 'cap_flow-test-admin-key-0123456789';

/**
 * All services in this process, each with its own connections as if it were separate, on a fresh database and, for `redis`, a
 * private Redis. Stopped at the end of the test file.
 */
export async function startSystem(
  queue: { name: string },
  {
    workers = 1,
    llm,
    mcp_file,
    max_requests = 2000,
    webhooks = {},
    installation = OPEN_INSTALLATION,
    seal_key = null,
    gateway: options = {},
  }: {
    workers?: number;
    llm?: LlmSettings;
    mcp_file?: string;
    max_requests?: number;
    webhooks?: WebhookOptions;
    installation?: PolicyDocument;
    seal_key?: SealKey | null;
    gateway?: Partial<GatewayOptions>;
  } = {},
) {
  const secret_keys = parseSecretKeys('5'.repeat(64));
  const database = await createTestDatabase();
  const redis = queue.name === 'redis' ? await startTestRedis({}) : null;
  const backbone = async (name: string): Promise<Backbone> => {
    const opened = await openBackbone({
      database_url: database.url,
      redis_url: redis?.url,
      name,
      connections: 5,
      log: createLog(name, 'silent'),
    });
    atEnd(() => opened.close());
    return opened;
  };

  const front = await backbone('gateway');
  await ensurePolicy(front.store, INSTALLATION_POLICY, installation);
  await prepareFirstStart(front, ADMIN_KEY);
  const gateway = await startGateway(front, {
    host: '127.0.0.1',
    port: 0,
    body_limit: 1_048_576,
    bulk_limit: 67_108_864,
    max_requests,
    // The test and all other services share this process, and a client that compiles schemas holds them up.
    max_lag_ms: 60_000,
    mcp_file,
    mcp_wait_ms: 3000,
    secret_keys,
    seal_key,
    webhook_allow_private: webhooks.allow_private ?? false,
    ...options,
  });
  atEnd(() => gateway.stop());
  const coordinator = startCoordinator(await backbone('coordinator'), {
    sweep_ms: 500,
    retention: { records_days: 1 },
    seal_key,
    webhooks: { secret_keys, ...webhooks },
  });
  atEnd(() => coordinator.stop());

  const worker_dirs: string[] = [];
  const addWorker = async (): Promise<Worker> => {
    const behind = await backbone('worker');
    const work_dir = await tempDir();
    worker_dirs.push(work_dir);
    const runners = createRunners({
      work_dir,
      extension_tools: createExtensionTools(behind.store, join(work_dir, 'extension-tools')),
      env: { PATH: process.env.PATH },
      mcp: createMcpPorts(behind, secret_keys),
      analyze: createAnalyzePorts(behind.store),
      llm,
    });
    const worker = await startWorker(behind, {
      runner_types: RUNNER_QUEUES.filter((runner) => runners.has(runner)),
      concurrency: () => 8,
      lease_ms: 3000,
      drain_ms: 2000,
      wedge_ms: 60_000,
      runners,
      redactor: createRedactor({ values: [ADMIN_KEY] }),
      onWedged: (runner) => {
        throw new Error(`the ${runner} worker is wedged`);
      },
    });
    atEnd(() => worker.stop());
    return worker;
  };
  const [worker] = await Promise.all(Array.from({ length: workers }, addWorker));
  if (!worker) throw new Error('a system needs a worker');

  const clientFor = (key: string) => createClient({ url: gateway.url, key });
  const { url, metrics_url } = gateway;
  const admin = clientFor(ADMIN_KEY);
  return { url, metrics_url, store: front.store, database, redis, clientFor, admin, worker, worker_dirs };
}

export type System = Awaited<ReturnType<typeof startSystem>>;

/** Allows everything that the tests run. */
export const ALLOW_ALL = {
  version: '1.0',
  boundary: 'deny_by_default',
  rules: [{ id: 'all', effect: 'allow', match: { tool: '*' } }],
  risk: { HIGH: { effect: 'allow' } },
  limits: [{ shell: true }],
} satisfies JsonObject;
