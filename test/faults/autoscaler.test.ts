import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '@capstan/client';
import { DEFAULT_TENANT, type QueueScale } from '@capstan/contracts';
import { describe, expect, test } from 'vitest';
import { atEnd } from '../fixtures/at-end.js';
import { eventually } from '../fixtures/eventually.js';
import { hardestQueue } from '../fixtures/queues.js';
import type { LineProcess } from '../fixtures/start-line-process.js';
import { checkInvariants } from './check-invariants.js';
import { redisFor } from './redis-for.js';
import { type Cluster, LONG_LEASE, startCluster } from './start-cluster.js';
import { untilAllEnded } from './until-all-ended.js';

const PER_WORKER = 4;
const MAX_WORKERS = 3;
const LOOK_MS = 100;
/** How many polls in a row have to want fewer workers before any is stopped. KEDA calls this the cooldown. */
const PATIENCE = 8;

/** A slow tool that counts its calls. */
async function startSlowTool() {
  const calls = new Map<string, number>();
  const server = createServer(({ url = '' }, response) => {
    calls.set(url, (calls.get(url) ?? 0) + 1);
    setTimeout(() => response.setHeader('content-type', 'application/json').end('{}'), 150);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, calls };
}

/** Scales like KEDA: from zero, up at once, down after a cooldown, by SIGTERM. */
function startAutoscaler(cluster: Cluster, ask: () => Promise<QueueScale>) {
  const workers: LineProcess[] = [];
  const stopped: LineProcess[] = [];
  let peak = 0;
  let starts = 0;
  let fewer = 0;
  let over = false;
  const look = async () => {
    const { desired } = await ask();
    const wanted = Math.min(MAX_WORKERS, Math.ceil(desired / PER_WORKER));
    fewer = wanted < workers.length ? fewer + 1 : 0;
    if (wanted > workers.length) {
      const missing = Array.from({ length: wanted - workers.length }, () =>
        cluster.startWorker({
          runners: 'api',
          concurrency: PER_WORKER,
          env: { ...LONG_LEASE, CAPSTAN_DRAIN_MS: '10000' },
        }),
      );
      starts += missing.length;
      workers.push(...(await Promise.all(missing)));
      peak = Math.max(peak, workers.length);
    } else if (fewer >= PATIENCE) {
      for (const worker of workers.splice(wanted)) {
        worker.kill('SIGTERM');
        stopped.push(worker);
      }
      fewer = 0;
    }
  };
  const loop = async () => {
    while (!over) {
      await look();
      await delay(LOOK_MS);
    }
  };
  const running = loop();
  return {
    count: () => workers.length,
    seen: () => ({ peak, starts }),
    end: async () => {
      over = true;
      await running;
      return Promise.all(stopped.map(({ exited }) => exited));
    },
  };
}

describe.each(hardestQueue)('on the $name queue', (queue) => {
  test('an autoscaler that follows /scale starts workers from zero and stops them again, and nothing is lost', async () => {
    const tool = await startSlowTool();
    const cluster = await startCluster({ redis: await redisFor(queue), workers: 0 });
    await cluster.client.policies.put(DEFAULT_TENANT, {
      version: '1.0',
      boundary: 'deny_by_default',
      rules: [{ id: 'api', effect: 'allow', match: { tool: 'api.call' } }],
      risk: { HIGH: { effect: 'allow' } },
      limits: [{ deny_private_ips: false }],
    });
    const { key } = await cluster.client.keys.create({ tenant: DEFAULT_TENANT, actor: 'keda', roles: ['scale'] });
    const keda = createClient({ url: cluster.gateway.url, key });
    atEnd(() => keda.close());
    await expect(keda.queues.list().page()).rejects.toMatchObject({ status: 403 });
    expect(await keda.queues.scale('api')).toEqual({ waiting: 0, running: 0, oldest_wait_s: 0, slots: 0, desired: 0 });

    const autoscaler = startAutoscaler(cluster, () => keda.queues.scale('api'));
    const burst = async (name: string, count: number) => {
      const { items } = await cluster.client.submitBulk(
        Array.from({ length: count }, (_, at) => ({
          tool_id: 'api.call',
          inputs: { method: 'POST', url: `${tool.url}/${name}/${at}` },
        })),
      );
      await untilAllEnded(cluster.ask);
      return items.flatMap(({ invocation_id }) => invocation_id ?? []);
    };
    const backToZero = () => eventually(() => autoscaler.count() === 0);

    const first = await burst('first', 36);
    expect(autoscaler.seen().peak).toBe(MAX_WORKERS);
    await backToZero();
    const second = await burst('second', 5);
    await backToZero();
    const exits = await autoscaler.end();

    // One start for each worker that a burst needed: none was stopped too early and had to be replaced.
    expect(autoscaler.seen().starts).toBe(MAX_WORKERS + 2);
    expect(exits.every(({ code }) => code === 0)).toBe(true);
    expect([...tool.calls.values()].filter((count) => count !== 1)).toEqual([]);
    expect(tool.calls.size).toBe(41);
    await checkInvariants(cluster, [...first, ...second]);
    expect(await keda.queues.scale('api')).toMatchObject({ waiting: 0, running: 0, slots: 0, desired: 0 });
  });
});
