import { type Client, createClient } from '@capstan/client';
import { INSTALLATION_POLICY } from '@capstan/contracts';
import { atEnd } from '../fixtures/at-end.js';
import { createTestDatabase } from '../fixtures/create-test-database.js';
import { freePort } from '../fixtures/free-port.js';
import { OPEN_INSTALLATION } from '../fixtures/open-installation.js';
import { spawnCapstan } from '../fixtures/spawn-capstan.js';
import type { LineProcess } from '../fixtures/start-line-process.js';
import type { TestRedis } from '../fixtures/start-test-redis.js';
import { tempDir } from '../fixtures/temp-dir.js';
import { type Ask, openQuestions } from './open-questions.js';

type Env = Readonly<Record<string, string>>;

export interface ClusterOptions {
  /** Without it, the queue is in Postgres. */
  redis?: TestRedis | undefined;
  /** A fresh database if left out. */
  database_url?: string;
  /** How many workers to start at first, each with these runner types. */
  workers?: number;
  runners?: string;
  /** If low, the work lasts longer, and a worker that is stopped most likely has a call. */
  concurrency?: number;
  /** For every process. */
  env?: Env;
  /** The program of another version of `capstan`. */
  program?: string;
}

export interface WorkerOptions {
  runners?: string;
  concurrency?: number;
  env?: Env;
}

export interface RunningGateway {
  readonly process: LineProcess;
  readonly client: Client;
  readonly url: string;
}

/** Capstan as it is deployed, with each service in its own process, on its own database. */
export interface Cluster {
  readonly client: Client;
  readonly gateway: RunningGateway;
  readonly coordinator: LineProcess;
  readonly database_url: string;
  readonly ask: Ask;
  /** The workers that are alive. */
  readonly workers: ReadonlySet<LineProcess>;
  /** This many live workers of these runner types. Missing ones are started. */
  workersFor(runners: string, count: number): Promise<LineProcess[]>;
  startWorker(options?: WorkerOptions): Promise<LineProcess>;
  startGateway(env?: Env): Promise<RunningGateway>;
  startCoordinator(env?: Env): Promise<LineProcess>;
  /** Later processes run this version, or without an argument the one that is built here. */
  useProgram(program?: string): void;
  /** Processes that ended by themselves, which no fault of a test may cause. */
  readonly crashes: readonly string[];
}

/** The lease, the drain time and the pause of the coordinator are short, to keep the tests short. */
const LEASE_MS = 1_500;
/** For tests in which no worker may be lost, however busy the machine is, because a second attempt would mean an error. */
export const LONG_LEASE = { CAPSTAN_LEASE_MS: '30000' };
export const DRAIN_MS = 500;
const SWEEP_MS = 500;
export const CLUSTER_KEY = 'the-key-of-the-fault-tests';

export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const { redis, workers: count = 1, runners: cluster_runners = 'builtin' } = options;
  const database_url = options.database_url ?? (await createTestDatabase()).url;
  const common = {
    DATABASE_URL: database_url,
    ...(redis === undefined ? {} : { REDIS_URL: redis.url }),
    CAPSTAN_API_KEY: CLUSTER_KEY,
    CAPSTAN_LOG_LEVEL: 'info',
    CAPSTAN_LEASE_MS: String(LEASE_MS),
    CAPSTAN_DRAIN_MS: String(DRAIN_MS),
    CAPSTAN_SWEEP_MS: String(SWEEP_MS),
    CAPSTAN_WORK_DIR: await tempDir(),
    ...options.env,
  };
  let { program } = options;
  const crashes: string[] = [];
  const start = async (args: readonly string[], env: Env): Promise<LineProcess> => {
    const started = await spawnCapstan(args, { ...common, ...env }, program === undefined ? {} : { program });
    void started.exited.then(({ code }) => {
      // Processes that a test kills end by a signal, and those that it stops end with 0.
      if (code)
        crashes.push(`${args[0]} ended with ${code}: ${[...started.stdout, ...started.stderr].slice(-25).join('\n')}`);
    });
    await started.waitForLine(new RegExp(`${args[0]} started`));
    return started;
  };

  const workers = new Set<LineProcess>();
  const runnersOf = new WeakMap<LineProcess, string>();
  const startWorker = async ({
    runners = cluster_runners,
    concurrency = options.concurrency,
    env = {},
  }: WorkerOptions = {}) => {
    const how = concurrency === undefined ? [] : ['--concurrency', String(concurrency)];
    const worker = await start(['worker', '--runner', runners, ...how], env);
    workers.add(worker);
    runnersOf.set(worker, runners);
    void worker.exited.then(() => workers.delete(worker));
    return worker;
  };
  const workersFor = async (runners: string, wanted: number) => {
    const living = [...workers].filter((worker) => runnersOf.get(worker) === runners);
    const missing = Array.from({ length: Math.max(0, wanted - living.length) }, () => startWorker({ runners }));
    return [...living, ...(await Promise.all(missing))];
  };
  const startGateway = async (env: Env = {}): Promise<RunningGateway> => {
    const port = env.PORT ?? String(await freePort());
    const process = await start(['gateway'], { ...env, PORT: port });
    const url = `http://127.0.0.1:${port}`;
    const client = createClient({ url, key: CLUSTER_KEY });
    atEnd(() => client.close());
    return { process, client, url };
  };
  const startCoordinator = (env: Env = {}) => start(['coordinator'], env);

  const [gateway, coordinator] = await Promise.all([
    startGateway(),
    startCoordinator(),
    ...Array.from({ length: count }, () => startWorker()),
  ]);
  await gateway.client.policies.put(INSTALLATION_POLICY, OPEN_INSTALLATION);
  return {
    client: gateway.client,
    gateway,
    coordinator,
    database_url,
    ask: openQuestions(database_url),
    workers,
    workersFor,
    startWorker,
    startGateway,
    startCoordinator,
    useProgram: (other) => {
      program = other;
    },
    crashes,
  };
}
