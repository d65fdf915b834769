import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Client } from '@capstan/client';
import type { InvocationDetail, PoolClaimed, PoolSettled } from '@capstan/contracts';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { atEnd } from '../fixtures/at-end.js';
import { eventually } from '../fixtures/eventually.js';
import { findRepository } from '../fixtures/find-repository.js';
import { freePort } from '../fixtures/free-port.js';
import { queues } from '../fixtures/queues.js';
import { type LineProcess, startLineProcess } from '../fixtures/start-line-process.js';
import { tempDir } from '../fixtures/temp-dir.js';
import { redisFor } from './redis-for.js';
import { CLUSTER_KEY, type Cluster, LONG_LEASE, startCluster } from './start-cluster.js';
import { startCuttingProxy } from './start-cutting-proxy.js';

const PROGRAM = fileURLToPath(new URL('test/dist/faults/app-worker-process.js', findRepository()));

describe.each(queues)('app workers on the $name queue', (queue) => {
  let cluster: Cluster;
  let client: Client;
  beforeAll(async () => {
    cluster = await startCluster({ redis: await redisFor(queue), workers: 0 });
    client = cluster.client;
  });

  /** A pool with a file of marks, which has a line for each time that a function started. */
  let pools = 0;
  async function newPool(what: string) {
    // A retried test must not meet the workers of its first try.
    const pool = `${what}-${pools++}`;
    const file = join(await tempDir(), 'marks');
    const marks = async () =>
      (await readFile(file, 'utf8').catch(() => ''))
        .split('\n')
        .filter(Boolean)
        .map((line) => {
          const [invocation_id = '', attempt, pid] = line.split(' ');
          return { invocation_id, attempt: Number(attempt), pid: Number(pid) };
        });
    const start = async (url: string): Promise<LineProcess> => {
      const worker = await startLineProcess({
        command: [process.execPath, PROGRAM, url, CLUSTER_KEY, pool, file],
        env: { PATH: process.env.PATH ?? '' },
        cwd: await tempDir(),
      });
      atEnd(() => worker.kill('SIGKILL'));
      await worker.waitForLine(/serves/);
      return worker;
    };
    const submit = async (id: string, count: number, ms: number): Promise<string[]> => {
      const submissions = Array.from({ length: count }, () => ({ tool_id: `app:${pool}:${id}`, inputs: { ms } }));
      const { items } = await client.submitBulk(submissions);
      return items.flatMap(({ invocation_id }) => invocation_id ?? []);
    };
    const ended = (ids: readonly string[]): Promise<InvocationDetail[]> =>
      Promise.all(ids.map((id) => client.wait(id, { timeout_s: 60 })));
    return { marks, start, submit, ended };
  }

  test('calls of a killed worker are done by another, or end ambiguous if they may not be repeated', async () => {
    const pool = await newPool('killed');
    const [first, second] = [await pool.start(cluster.gateway.url), await pool.start(cluster.gateway.url)];
    const once = await pool.submit('once', 8, 2500);
    const repeatable = await pool.submit('mark', 30, 50);
    const begun = async () => (await pool.marks()).filter(({ invocation_id }) => once.includes(invocation_id));
    await eventually(async () => {
      const pids = new Set((await begun()).map(({ pid }) => pid));
      return pids.size > 0 && (await begun()).length === once.length;
    });
    const [{ pid } = { pid: 0 }] = await begun();
    const victim = first.pid === pid ? first : second;
    victim.kill('SIGKILL');
    expect((await pool.ended(repeatable)).map(({ status }) => status)).toEqual(repeatable.map(() => 'succeeded'));
    const all = await pool.ended(once);
    const marks = await begun();
    expect(marks).toHaveLength(once.length);
    for (const { invocation_id, status } of all) {
      const ran = marks.find((mark) => mark.invocation_id === invocation_id);
      expect(status).toBe(ran?.pid === victim.pid ? 'ambiguous' : 'succeeded');
    }
  });

  test('a call of a worker that is frozen past its lease is done by another, and not again when the first wakes', async () => {
    const pool = await newPool('frozen');
    const frozen = await pool.start(cluster.gateway.url);
    const ids = await pool.submit('mark', 5, 1500);
    await eventually(async () => (await pool.marks()).length === 5);
    frozen.kill('SIGSTOP');
    await pool.start(cluster.gateway.url);
    const ended = await pool.ended(ids);
    frozen.kill('SIGCONT');
    expect(ended.map(({ status, attempt }) => [status, attempt])).toEqual(ids.map(() => ['succeeded', 2]));
    const later = await pool.submit('mark', 20, 10);
    expect((await pool.ended(later)).map(({ status }) => status)).toEqual(later.map(() => 'succeeded'));
    const marks = await pool.marks();
    expect(marks.filter(({ invocation_id }) => ids.includes(invocation_id))).toHaveLength(10);
    expect(marks.filter(({ invocation_id }) => later.includes(invocation_id))).toHaveLength(20);
  });

  test('a result that a worker sends after its lease has ended is refused, and the refusal is on record', async () => {
    const send = sendTo(`${cluster.gateway.url}/v1/pools/late`);
    const tools = [{ id: 'pay', input_schema: {}, risk: 'LOW', side_effects: [] }];
    await send('PUT', 'tools', { version: '1', tools });
    const { invocation_id } = await client.submit({ tool_id: 'app:late:pay', inputs: {} });
    const claim = { worker_id: 'sleepy', slots: 1, wait_s: 30 };
    const { calls } = await send<PoolClaimed>('POST', 'claim', claim);
    expect(calls).toMatchObject([{ invocation_id, attempt: 1 }]);
    expect(await client.wait(invocation_id, { timeout_s: 60 })).toMatchObject({ status: 'ambiguous' });
    const results = [{ invocation_id, attempt: 1, status: 'succeeded', payload: 1 }];
    const { outcomes } = await send<PoolSettled>('POST', 'settle', { worker_id: 'sleepy', results });
    expect(outcomes).toMatchObject([{ invocation_id, outcome: 'refused' }]);
    expect(await client.get(invocation_id)).toMatchObject({ status: 'ambiguous' });
    const rows = await cluster.ask(`SELECT outcome FROM attempts WHERE invocation_id = '${invocation_id}'`);
    expect(rows).toEqual([{ outcome: 'refused' }]);
    expect(await send('POST', 'beat', { worker_id: 'sleepy', running: [invocation_id] })).toMatchObject({
      lost: [invocation_id],
    });
  });

  test('a secret and a file that a call got through one gateway are known to the gateway that settles it', async () => {
    const CANARY = 'sk-second-gateway-canary-0123456789';
    const env = { ...LONG_LEASE, CAPSTAN_SECRETS_KEY: '5'.repeat(64) };
    const [here, there] = await Promise.all([cluster.startGateway(env), cluster.startGateway(env)]);
    const [send, sendThere] = [here, there].map(({ url }) => sendTo(`${url}/v1/pools/both`));
    if (!send || !sendThere) throw new Error('there are two gateways');
    const tools = [{ id: 'pay', input_schema: {}, risk: 'LOW', side_effects: [] }];
    await send('PUT', 'tools', { version: '1', tools });
    // The gateway that accepted the tools knows them at once, the others within moments.
    const { invocation_id } = await here.client.submit({ tool_id: 'app:both:pay', inputs: {} });
    await here.client.secrets.put('shared_key', { value: CANARY });
    const worker_id = 'roaming';
    const { calls } = await send<PoolClaimed>('POST', 'claim', { worker_id, slots: 1, wait_s: 30 });
    expect(calls).toMatchObject([{ invocation_id, attempt: 1 }]);
    const one = { worker_id, invocation_id, attempt: 1 };
    expect(await sendThere('POST', 'secrets', { ...one, name: 'shared_key' })).toEqual({ value: CANARY });
    await sendThere('PUT', `artifacts?${new URLSearchParams({ ...one, attempt: '1', name: 'receipt.json' })}`, {});
    const line = { invocation_id, attempt: 1, text: `the key is ${CANARY}\n` };
    for (const log of [send, sendThere, send]) await log('POST', 'logs', { worker_id, lines: [line] });
    const results = [{ invocation_id, attempt: 1, status: 'succeeded', payload: { key: CANARY } }];
    await send('POST', 'settle', { worker_id, results });
    const ended = await client.wait(invocation_id, { timeout_s: 60 });
    expect(ended).toMatchObject({ status: 'succeeded', result: { artifacts: [{ name: 'receipt.json' }] } });
    const logged: string[] = [];
    for await (const event of client.events(invocation_id)) if (event.event === 'log') logged.push(event.data.text);
    expect(logged.join('').match(/^the key is /gm)).toHaveLength(3);
    expect(JSON.stringify([ended, logged])).not.toContain(CANARY);
  });

  test('a gateway that is killed and restarted still knows the calls of its workers', async () => {
    const pool = await newPool('restart');
    const PORT = String(await freePort());
    const first = await cluster.startGateway({ ...LONG_LEASE, PORT });
    const worker = await pool.start(first.url);
    const ids = await pool.submit('once', 8, 2000);
    await eventually(async () => (await pool.marks()).length === 8);
    first.process.kill('SIGKILL');
    await first.process.exited;
    await cluster.startGateway({ ...LONG_LEASE, PORT });
    const later = await pool.submit('once', 8, 10);
    const ended = await pool.ended([...ids, ...later]);
    expect(ended.map(({ status, attempt }) => [status, attempt])).toEqual(ended.map(() => ['succeeded', 1]));
    expect(await pool.marks()).toHaveLength(16);
    worker.kill('SIGTERM');
    expect(await worker.exited).toMatchObject({ code: 0 });
  });

  test('no call is lost or run twice if connections are cut again and again', async () => {
    const pool = await newPool('cut');
    const { url } = await cluster.startGateway(LONG_LEASE);
    const proxy = await startCuttingProxy(url);
    await pool.start(proxy.url);
    const cutting = new AbortController();
    onTestFinished(() => cutting.abort());
    const cuts = (async () => {
      while (!cutting.signal.aborted) {
        await delay(40 + 120 * Math.random());
        proxy.cut();
      }
    })();
    const ids = [...(await pool.submit('once', 40, 20)), ...(await pool.submit('mark', 40, 20))];
    const ended = await pool.ended(ids);
    cutting.abort();
    await cuts;
    expect(ended.map(({ status, attempt }) => [status, attempt])).toEqual(ended.map(() => ['succeeded', 1]));
    const marks = (await pool.marks()).map(({ invocation_id }) => invocation_id).sort();
    expect(marks).toEqual([...ids].sort());
  });

  test('no process has crashed in the tests above', () => {
    expect(cluster.crashes).toEqual([]);
  });
});

/** Speaks the protocol of workers with one gateway. */
const sendTo =
  (url: string) =>
  async <T>(method: string, path: string, body: unknown): Promise<T> => {
    const headers = { authorization: `Bearer ${CLUSTER_KEY}`, 'content-type': 'application/json' };
    const answer = await fetch(`${url}/${path}`, { method, headers, body: JSON.stringify(body) });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${text}`);
    return (text === '' ? null : JSON.parse(text)) as T;
  };
