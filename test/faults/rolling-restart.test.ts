import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { atEnd } from '../fixtures/at-end.js';
import { eventually } from '../fixtures/eventually.js';
import type { LineProcess } from '../fixtures/start-line-process.js';
import { CLUSTER_KEY, type Cluster, startCluster } from './start-cluster.js';

const CLIENTS = 40;
const BODY = JSON.stringify({ tool_id: 'cap:test_math:add', inputs: { a: 2, b: 3 } });
const HEADERS = { authorization: `Bearer ${CLUSTER_KEY}`, 'content-type': 'application/json' };

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
}, 60_000);

const urlOf = async (process: LineProcess): Promise<string> =>
  (await process.waitForLine(/"url":"([^"]+)".*gateway started/))[1] ?? '';

const startGateway = async (delay_ms: number) => {
  const { process } = await cluster.startGateway({
    CAPSTAN_SHUTDOWN_DELAY_MS: String(delay_ms),
    CAPSTAN_DRAIN_MS: '10000',
  });
  return { process, url: await urlOf(process) };
};

type Answer = { status: number; type: string; connection: string };

const post = (url: string, agent: Agent): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const sent = request(`${url}/v1/invocations?wait=10`, { method: 'POST', agent, headers: HEADERS }, (response) => {
      const { 'content-type': type = '', connection = '' } = response.headers;
      response.resume().once('end', () => resolve({ status: response.statusCode ?? 0, type, connection }));
    });
    sent.once('error', reject).end(BODY);
  });

const isReady = async (url: string): Promise<boolean> => {
  try {
    return (await fetch(`${url}/readyz`)).ok;
  } catch {
    return false;
  }
};

/** Sends to whoever was ready when last asked, as a load balancer does, over connections that it keeps. */
function startLoad() {
  const ready = new Set<string>();
  const known = new Set<string>();
  const failures: string[] = [];
  const answered = new Map<string, number>();
  let told_to_close = 0;
  let over = false;
  const probe = async () => {
    while (!over) {
      for (const url of known) (await isReady(url)) ? ready.add(url) : ready.delete(url);
      await delay(25);
    }
  };
  const client = async (place: number) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let turn = place; !over; turn += 1) {
      const urls = [...ready];
      const url = urls[turn % Math.max(1, urls.length)];
      if (!url) {
        await delay(5);
        continue;
      }
      try {
        const { status, connection } = await post(url, agent);
        answered.set(url, (answered.get(url) ?? 0) + 1);
        if (connection === 'close') told_to_close += 1;
        if (status !== 200) failures.push(`${status}`);
      } catch (error) {
        failures.push(String(error));
      }
    }
    agent.destroy();
  };
  const running = Promise.all([probe(), ...Array.from({ length: CLIENTS }, (_, place) => client(place))]);
  const end = async () => {
    over = true;
    await running;
  };
  atEnd(end);
  return {
    add: (url: string) => known.add(url),
    drop: (url: string) => known.delete(url),
    answeredBy: (url: string) => answered.get(url) ?? 0,
    failures,
    toldToClose: () => told_to_close,
    end,
  };
}

test('a rolling restart of gateways under load fails no request', { timeout: 60_000 }, async () => {
  const load = startLoad();
  let old = await startGateway(400);
  load.add(old.url);
  await eventually(() => load.answeredBy(old.url) > CLIENTS);
  for (let round = 0; round < 2; round += 1) {
    const next = await startGateway(400);
    load.add(next.url);
    await eventually(() => load.answeredBy(next.url) > CLIENTS);
    old.process.kill('SIGTERM');
    expect(await old.process.exited).toEqual({ code: 0, signal: null });
    load.drop(old.url);
    old = next;
  }
  await load.end();
  expect(load.failures).toEqual([]);
  expect(load.toldToClose()).toBeGreaterThan(0);
  expect(cluster.crashes).toEqual([]);
});

/** A connection that says what is written on it and collects what comes back. */
async function openConnection(url: string) {
  const { hostname, port } = new URL(url);
  const socket: Socket = connect(Number(port), hostname);
  let heard = '';
  socket.setEncoding('utf8').on('data', (text) => {
    heard += text;
  });
  const closed = new Promise<string>((resolve, reject) => {
    socket.once('error', reject).once('close', () => resolve(heard));
  });
  closed.catch(() => {});
  return { say: (text: string) => socket.write(text), heard: () => heard, closed };
}
const GET = 'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n';

describe('a gateway that was told to stop', { timeout: 60_000 }, () => {
  test('says so at /readyz first, still answers, and tells kept-alive connections to close', async () => {
    const { process, url } = await startGateway(600_000);
    const kept = await openConnection(url);
    kept.say(GET);
    await eventually(() => kept.heard().includes('"ok"'));
    process.kill('SIGTERM');
    const answer = await eventually(async () => {
      const response = await fetch(`${url}/readyz`);
      expect(response.status).toBe(503);
      return response.json();
    });
    expect(answer).toMatchObject({ ready: false, stopping: true, postgres: { ok: true } });
    const agent = new Agent({ keepAlive: true });
    expect(await post(url, agent)).toMatchObject({ status: 200, connection: 'close' });
    kept.say(GET);
    expect((await kept.closed).split('HTTP/1.1').at(-1)?.toLowerCase()).toContain('connection: close');
    process.kill('SIGKILL');
  });

  test('answers a request that comes on an idle connection after it took the last new one', async () => {
    const { process, url } = await startGateway(0);
    const kept = await openConnection(url);
    kept.say(GET);
    await eventually(() => kept.heard().includes('"ok"'));
    process.kill('SIGTERM');
    await eventually(async () => expect(fetch(url)).rejects.toThrow());
    kept.say(GET);
    expect((await kept.closed).match(/HTTP\/1.1 200 OK/g)).toHaveLength(2);
    expect(await process.exited).toEqual({ code: 0, signal: null });
  });

  test('ends requests of which half has arrived, with a problem, and does not wait for the rest', async () => {
    const { process, url } = await startGateway(0);
    const [first, later, body, silent] = await Promise.all(Array.from({ length: 4 }, () => openConnection(url)));
    first?.say('GET /healthz HTTP/1.1\r\nho');
    later?.say(`${GET}GET /healthz HTTP/1.1\r\nho`);
    body?.say(`POST /v1/invocations HTTP/1.1\r\nhost: x\r\nauthorization: ${HEADERS.authorization}\r\n`);
    body?.say(`content-type: application/json\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY.slice(0, 10)}`);
    await eventually(() => later?.heard().includes('"ok"') ?? false);
    process.kill('SIGTERM');
    expect(await process.exited).toEqual({ code: 0, signal: null });
    for (const half of [first, body]) {
      expect(await half?.closed).toMatch(/^HTTP\/1.1 408 /);
      expect(await half?.closed).toContain('application/problem+json');
    }
    expect(await later?.closed).toMatch(/^HTTP\/1.1 200 /);
    expect(await silent?.closed).toBe('');
  });
});

test('workers and coordinators serve /healthz, /readyz and /metrics, and are not ready once they were told to stop', {
  timeout: 60_000,
}, async () => {
  const env = { CAPSTAN_METRICS_PORT: '0', CAPSTAN_SHUTDOWN_DELAY_MS: '600000' };
  const services = [await cluster.startWorker({ env }), await cluster.startCoordinator(env)];
  for (const service of services) {
    const [, metrics = ''] = await service.waitForLine(/"url":"([^"]+)".*metrics are served/);
    const at = (path: string) => fetch(new URL(path, metrics));
    expect(await (await at('/healthz')).json()).toEqual({ status: 'ok' });
    expect(await (await at('/readyz')).json()).toMatchObject({ ready: true, queue: { kind: 'postgres' } });
    expect(await (await at('/metrics')).text()).toMatch(
      /^capstan_build_info\{version="[\d.]+",service="(worker|coordinator)"/m,
    );
    service.kill('SIGTERM');
    await eventually(async () => expect((await at('/readyz')).status).toBe(503));
    expect((await at('/healthz')).status).toBe(200);
    service.kill('SIGKILL');
  }
});
