import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { measureBulk } from './bulk.js';
import type { Cleanup } from './cleanup.js';
import type { Endpoint } from './endpoint.js';
import { freePort } from './free-port.js';
import type { LoadGenerator } from './load-generator.js';
import { pollUntil } from './poll-until.js';
import { runCapstan, type ServiceProcess, startServiceProcess } from './service-process.js';
import type { Subject } from './subject.js';

/** Capstan as it is deployed: a gateway, a coordinator and a worker in processes of their own. */
export interface CapstanUnderTest extends Subject {
  readonly name: 'redis' | 'postgres';
  readonly endpoint: Endpoint;
  processes(): readonly ServiceProcess[];
  stopWorker(): Promise<void>;
  startWorker(): Promise<void>;
  /** Another worker, for processes. */
  startExecWorker(concurrency: number): Promise<ServiceProcess>;
}

export interface StartCapstan {
  readonly name: 'redis' | 'postgres';
  readonly database_url: string;
  /** Without it the queue is the invocations table in Postgres. */
  readonly redis_url?: string;
  readonly directory: string;
  readonly load: LoadGenerator;
  readonly cleanup: Cleanup;
  readonly onDeath: (error: Error) => void;
}

const IN_FLIGHT = { lone: 1, in_flight_50: 50, in_flight_500: 500 } as const;

export async function startCapstan(options: StartCapstan): Promise<CapstanUnderTest> {
  const { name, load } = options;
  const directory = join(options.directory, name);
  await mkdir(directory);
  const endpoint: Endpoint = { port: await freePort(), api_key: `bench-${randomBytes(24).toString('hex')}` };
  const env = environmentOf(options, endpoint);
  const start = (service: string, args: readonly string[], more: Record<string, string> = {}) =>
    startServiceProcess({ ...options, name: `${service} on ${name}`, directory, args, env: { ...env, ...more } });
  const startWorker = () => start('worker', ['worker', '--runner', 'builtin']);

  await runCapstan(['migrate'], env, directory);
  const gateway = await start('gateway', ['gateway'], { PORT: `${endpoint.port}` });
  const coordinator = await start('coordinator', ['coordinator']);
  let worker = await startWorker();
  await pollUntil(() => isReady(endpoint), {
    every_ms: 50,
    within_ms: 30_000,
    what: `the gateway on ${name} is ready`,
  });

  return {
    name,
    endpoint,
    measure: (shape, count) =>
      shape === 'bulk' ? measureBulk(endpoint, count) : load.send({ ...endpoint, in_flight: IN_FLIGHT[shape], count }),
    processes: () => [gateway, worker, coordinator],
    stopWorker: () => worker.stop(),
    startExecWorker: (concurrency) =>
      start('exec worker', ['worker', '--runner', 'exec', '--concurrency', `${concurrency}`]),
    async startWorker() {
      worker = await startWorker();
    },
  };
}

function environmentOf({ database_url, redis_url }: StartCapstan, { api_key }: Endpoint): Record<string, string> {
  return {
    NODE_ENV: 'production',
    CAPSTAN_LOG_LEVEL: 'warn',
    CAPSTAN_API_KEY: api_key,
    DATABASE_URL: database_url,
    ...(redis_url === undefined ? {} : { REDIS_URL: redis_url }),
  };
}

async function isReady({ port }: Endpoint): Promise<boolean> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`);
    await answer.arrayBuffer();
    return answer.status === 200;
  } catch {
    return false; // it does not listen yet
  }
}
