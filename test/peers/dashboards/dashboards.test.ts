import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { redisFor } from '../../faults/redis-for.js';
import { type Cluster, startCluster } from '../../faults/start-cluster.js';
import { atEnd } from '../../fixtures/at-end.js';
import { eventually } from '../../fixtures/eventually.js';
import { findProgram } from '../../fixtures/find-program.js';
import { findRepository } from '../../fixtures/find-repository.js';
import { freePort } from '../../fixtures/free-port.js';
import { queues } from '../../fixtures/queues.js';
import { startLineProcess } from '../../fixtures/start-line-process.js';
import { tempDir } from '../../fixtures/temp-dir.js';

const prometheus = findProgram('prometheus', 'the queries of the Grafana dashboards');
const folder = new URL('infra/grafana/', findRepository());
const Dashboard = z.looseObject({
  title: z.string(),
  panels: z.array(z.looseObject({ title: z.string(), targets: z.array(z.looseObject({ expr: z.string() })) })),
});
const dashboards = readdirSync(folder)
  .filter((name) => name.endsWith('.json'))
  .map((name) => Dashboard.parse(JSON.parse(readFileSync(new URL(name, folder), 'utf8'))));

const Sample = z.object({ value: z.tuple([z.number(), z.string()]) });
const numberOf = (sample: unknown): number => Number(Sample.parse(sample).value[1]);
const Answer = z.object({ data: z.object({ result: z.array(z.unknown()) }) });

/** Starts a Prometheus that scrapes these addresses every second. */
async function startPrometheus(program: string, targets: string[]): Promise<(expr: string) => Promise<unknown[]>> {
  const data = await tempDir();
  const config = {
    global: { scrape_interval: '1s' },
    scrape_configs: [{ job_name: 'capstan', static_configs: [{ targets }] }],
  };
  await writeFile(join(data, 'prometheus.yml'), JSON.stringify(config));
  const port = await freePort();
  const server = await startLineProcess({
    command: [
      program,
      `--config.file=${join(data, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(data, 'tsdb')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    env: { PATH: process.env.PATH ?? '' },
    cwd: data,
  });
  atEnd(async () => {
    server.killGroup('SIGKILL');
    await server.exited;
  });
  await server.waitForLine(/Server is ready/);
  return async (expr) => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(expr)}`);
    const text = await response.text();
    if (!response.ok) throw new Error(`${expr}: ${text}`);
    return Answer.parse(JSON.parse(text)).data.result;
  };
}

const REFERENCE = readFileSync(new URL('docs/reference/metrics.md', findRepository()), 'utf8');
/** Every metric of the reference, as Prometheus stores it. */
const metrics = [...REFERENCE.matchAll(/^\| `(capstan_\w+)` \| (\w+) \|/gm)].map(([, name, type]) =>
  type === 'histogram' ? `${name}_count` : name,
);
const MOVING = [
  'capstan_submissions_total',
  'capstan_http_requests_total',
  'capstan_http_request_seconds_count',
  'capstan_attempts_total',
  'capstan_attempt_seconds_count',
  'capstan_queue_wait_seconds_count',
  'capstan_event_loop_busy_seconds_total',
];

describe.runIf(prometheus).each(queues)('on a running system with the $name queue', (queue) => {
  let query: (expr: string) => Promise<unknown[]>;
  let cluster: Cluster;
  beforeAll(async () => {
    const redis = await redisFor(queue);
    const env = { CAPSTAN_METRICS_PORT: '0' };
    cluster = await startCluster({ redis, env });
    const places = await Promise.all(
      [cluster.gateway.process, cluster.coordinator, ...cluster.workers].map(async (service) => {
        const [, host = ''] = await service.waitForLine(/"(?:metrics|url)":"http:\/\/([^/"]+)\/metrics"/);
        return host;
      }),
    );
    query = await startPrometheus(prometheus ?? '', places);
    await eventually(async () => (await query('capstan_store_up')).length > 0, { timeout_ms: 20_000 });
    // Two rounds of calls, so that every counter moves between two scrapes.
    for (let round = 0; round < 2; round += 1) {
      await cluster.client.submit({ tool_id: 'cap:test_math:add', inputs: { a: 1, b: 2 } }, { wait_s: 20 });
      await cluster.client.submit({ tool_id: 'shell.run', inputs: { cmd: ['true'] } }).catch(() => {});
      await eventually(async () => (await query('rate(capstan_denials_total[1m])')).length > round - 1, {
        timeout_ms: 20_000,
      });
    }
    await eventually(async () => (await query('rate(capstan_attempts_total[1m])')).length > 0, { timeout_ms: 20_000 });
  }, 120_000);

  test('every metric of the reference exists', async () => {
    expect(metrics.length).toBeGreaterThan(30);
    const answers = await Promise.all(metrics.map(async (name = '') => ({ name, found: await query(name) })));
    const missing = answers.flatMap(({ name, found }) => (found.length === 0 ? [name] : []));
    expect(missing).toEqual([]);
  });

  test.each(MOVING)('%s increases with the load', async (name) => {
    const now = async () => Number((await query(`sum(${name})`)).map(numberOf)[0]);
    const before = await now();
    await cluster.client.submit({ tool_id: 'cap:test_math:add', inputs: { a: 1, b: 2 } }, { wait_s: 20 });
    await eventually(async () => (await now()) > before, { timeout_ms: 20_000 });
  });

  test.each(dashboards)('every query of the dashboard $title returns data', async ({ panels }) => {
    const exprs = panels.flatMap(({ title, targets }) =>
      targets.map(({ expr }) => ({ title, expr: expr.replaceAll('$runner', 'builtin') })),
    );
    expect(exprs.length).toBeGreaterThan(5);
    const empty: string[] = [];
    for (const { title, expr } of exprs) if ((await query(expr)).length === 0) empty.push(`${title}: ${expr}`);
    expect(empty).toEqual([]);
  });
});
