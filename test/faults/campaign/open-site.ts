import { setTimeout as delay } from 'node:timers/promises';
import { type Client, createClient } from '@capstan/client';
import { atEnd } from '../../fixtures/at-end.js';
import { freePort } from '../../fixtures/free-port.js';
import { spawnCapstan } from '../../fixtures/spawn-capstan.js';
import type { LineProcess } from '../../fixtures/start-line-process.js';
import { startTestRedis, type TestRedis } from '../../fixtures/start-test-redis.js';
import { tempDir } from '../../fixtures/temp-dir.js';
import { type FaultyProxy, startFaultyProxy } from './start-faulty-proxy.js';
import { steppableClock } from './steppable-clock.js';

export const MEMBERS = ['gateway', 'coordinator-1', 'coordinator-2', 'worker-1', 'worker-2'] as const;
export type MemberName = (typeof MEMBERS)[number];

/** A process with its own proxies to Postgres and Redis. */
export interface Member {
  readonly name: MemberName;
  readonly postgres: FaultyProxy;
  readonly redis: FaultyProxy | null;
  /** The current process, which a restart replaces. */
  process(): LineProcess;
}

/** Capstan as it is deployed, with two coordinators and two workers. Each process is restarted when it ends, as by a supervisor. */
export interface Site {
  readonly members: readonly Member[];
  readonly redis: TestRedis | null;
  readonly database_url: string;
  readonly client: Client;
  /** Processes that ended by themselves, with their last lines. */
  readonly crashes: readonly string[];
  /** A gateway that no fault affects, for the verdict. */
  openObserver(): Promise<Client>;
}

const KEY = 'the-key-of-the-fault-campaign';
/** Short, so that a fault of some seconds lasts longer. */
const LEASE_MS = 1_500;
/** How long a supervisor takes to restart a process. */
const RESTART_MS = 300;

export async function openSite(options: {
  queue: 'redis' | 'postgres';
  database_url: string;
  fraction: () => number;
}): Promise<Site> {
  const { queue, database_url, fraction } = options;
  const redis = queue === 'redis' ? await startTestRedis() : null;
  const common = {
    CAPSTAN_API_KEY: KEY,
    CAPSTAN_LOG_LEVEL: 'info',
    CAPSTAN_LEASE_MS: `${LEASE_MS}`,
    CAPSTAN_DRAIN_MS: '500',
    CAPSTAN_SWEEP_MS: '500',
    CAPSTAN_WORK_DIR: await tempDir(),
  };
  const crashes: string[] = [];
  const port = await freePort();

  async function startMember(name: MemberName): Promise<Member> {
    const postgres = await startFaultyProxy(database_url, fraction);
    const own_redis = redis && (await startFaultyProxy(redis.url, fraction));
    const env = {
      ...common,
      ...steppableClock(),
      DATABASE_URL: postgres.url,
      ...(own_redis ? { REDIS_URL: own_redis.url } : {}),
      PORT: `${port}`,
    };
    const spawn = () => spawnCapstan(argumentsOf(name), env);
    let current = await spawn();
    await current.waitForLine(/ started/);
    let supervised = true;
    let restarting: Promise<unknown> = Promise.resolve();
    atEnd(() => {
      supervised = false;
      return restarting;
    });
    const supervise = async () => {
      for (;;) {
        const { code } = await current.exited;
        if (code)
          crashes.push(`${name} ended with ${code}: ${[...current.stdout, ...current.stderr].slice(-5).join('\n')}`);
        await delay(RESTART_MS);
        if (!supervised) return;
        restarting = spawn().then((next) => {
          current = next;
        });
        await restarting;
      }
    };
    void supervise();
    return { name, postgres, redis: own_redis, process: () => current };
  }

  const members = await Promise.all(MEMBERS.map(startMember));
  const clientAt = (at: number) => {
    const client = createClient({ url: `http://127.0.0.1:${at}`, key: KEY });
    atEnd(() => client.close());
    return client;
  };
  return {
    members,
    redis,
    database_url,
    client: clientAt(port),
    crashes,
    async openObserver() {
      const PORT = await freePort();
      const redis_url = redis === null ? {} : { REDIS_URL: redis.url };
      const observer = await spawnCapstan(['gateway'], {
        ...common,
        ...redis_url,
        DATABASE_URL: database_url,
        PORT: `${PORT}`,
      });
      await observer.waitForLine(/ started/);
      return clientAt(PORT);
    },
  };
}

function argumentsOf(name: MemberName): string[] {
  const [service = ''] = name.split('-');
  return service === 'worker' ? ['worker', '--runner', 'builtin,api', '--concurrency', '16'] : [service];
}
