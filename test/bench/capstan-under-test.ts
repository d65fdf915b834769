import { randomBytes } from 'node:crypto';
import { freePort } from '../fixtures/free-port.js';
import { spawnCapstan } from '../fixtures/spawn-capstan.js';
import type { LineProcess } from '../fixtures/start-line-process.js';
import type { BenchPostgres } from './bench-postgres.js';
import { measureBulk } from './load/bulk.js';
import type { Endpoint } from './load/endpoint.js';
import type { LoadGenerator } from './load/load-generator.js';
import type { Metered } from './meter.js';
import { type CapstanName, SHAPES, type Subject } from './subject.js';

/** Capstan as it is deployed: a gateway, a coordinator and a worker as separate processes. */
export interface CapstanUnderTest extends Subject {
  readonly name: CapstanName;
  readonly endpoint: Endpoint;
  readonly database_url: string;
  /** Its own processes, without Postgres and Redis. */
  services(): readonly Metered[];
  stop(service: 'worker' | 'coordinator'): Promise<void>;
  start(service: 'worker' | 'coordinator'): Promise<void>;
  /** Another worker, for processes; answers how to stop it. */
  startExecWorker(concurrency: number): Promise<() => Promise<void>>;
}

export interface StartCapstan {
  readonly name: CapstanName;
  readonly database_url: string;
  /** Without it the queue is in Postgres. */
  readonly redis: { readonly url: string; readonly process: Metered } | null;
  readonly postgres: BenchPostgres;
  readonly load: LoadGenerator;
  readonly onDeath: (error: Error) => void;
}

const IN_FLIGHT = { lone: 1, in_flight_50: 50, in_flight_500: 500 } as const;
const ARGUMENTS = {
  gateway: ['gateway'],
  coordinator: ['coordinator'],
  worker: ['worker', '--runner', 'builtin'],
} as const;

/** The flags that infra/Dockerfile uses. */
const AS_IN_THE_IMAGE = ['--max-semi-space-size=64'];

export async function startCapstan(options: StartCapstan): Promise<CapstanUnderTest> {
  const { name, database_url, redis, postgres, load, onDeath } = options;
  const endpoint: Endpoint = { port: await freePort(), api_key: `bench-${randomBytes(24).toString('hex')}` };
  const env = {
    NODE_ENV: 'production',
    CAPSTAN_LOG_LEVEL: 'info', // each logs little, and one line of it says that it is up
    CAPSTAN_API_KEY: endpoint.api_key,
    DATABASE_URL: database_url,
    PORT: `${endpoint.port}`,
    ...(redis === null ? {} : { REDIS_URL: redis.url }),
  };
  const stopped = new WeakSet<LineProcess>();
  const spawn = async (args: readonly string[]) => {
    const spawned = await spawnCapstan(args, env, { node: AS_IN_THE_IMAGE });
    await spawned.waitForLine(/ started/);
    void spawned.exited.then(({ code, signal }) => {
      const last = [...spawned.stdout, ...spawned.stderr].slice(-15).join('\n');
      if (!stopped.has(spawned) && signal !== 'SIGKILL')
        onDeath(new Error(`${args[0]} on ${name} ended by itself (${code ?? signal}); its last lines:\n${last}`));
    });
    return spawned;
  };
  const stop = async (service: LineProcess) => {
    stopped.add(service);
    service.kill('SIGTERM');
    await service.exited;
  };

  const migration = await spawnCapstan(['migrate'], env);
  if ((await migration.exited).code !== 0) throw new Error(`capstan migrate failed: ${migration.stderr.join('\n')}`);
  const running = {
    gateway: await spawn(ARGUMENTS.gateway),
    worker: await spawn(ARGUMENTS.worker),
    coordinator: await spawn(ARGUMENTS.coordinator),
  };
  const services = () => Object.entries(running).map(([service, { pid }]) => ({ name: service, pid }));

  return {
    name,
    endpoint,
    database_url,
    shapes: SHAPES,
    services,
    processes: () => [
      ...services(),
      postgres.process,
      ...(redis === null ? [] : [redis.process]),
      { name: 'load', pid: load.pid },
    ],
    measure: (shape, count) =>
      shape === 'bulk' ? measureBulk(endpoint, count) : load.send({ ...endpoint, in_flight: IN_FLIGHT[shape], count }),
    stop: (service) => stop(running[service]),
    async start(service) {
      running[service] = await spawn(ARGUMENTS[service]);
    },
    async startExecWorker(concurrency) {
      const worker = await spawn(['worker', '--runner', 'exec', '--concurrency', `${concurrency}`]);
      return () => stop(worker);
    },
  };
}
