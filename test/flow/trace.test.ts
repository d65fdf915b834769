import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { serveTools, tool } from '@capstan/client';
import type { Invocation } from '@capstan/contracts';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { traceReference } from '../docs/trace-reference.js';
import { redisFor } from '../faults/redis-for.js';
import { CLUSTER_KEY, type Cluster, startCluster } from '../faults/start-cluster.js';
import { atEnd } from '../fixtures/at-end.js';
import { eventually } from '../fixtures/eventually.js';
import { findRepository } from '../fixtures/find-repository.js';
import { queues } from '../fixtures/queues.js';
import { FIXTURE } from './mcp-policy.js';
import { drawTrace, startTraceCollector, textOf } from './start-trace-collector.js';

const POLICY = {
  version: '1.0',
  boundary: 'deny_by_default',
  rules: [
    { id: 'all', effect: 'allow', match: { tool: ['mcp:*', 'cap:*', 'app:*', 'api.call', 'fs.write'] } },
    {
      id: 'ask',
      effect: 'hold',
      match: { tool: 'cap:test_math:multiply' },
      approvals: { allow_self: true },
      reason: 'a product',
    },
  ],
  risk: { HIGH: { effect: 'allow' } },
  limits: [{ deny_private_ips: false, sandbox: 'preferred' }],
};

/** An HTTP tool that answers with the trace it is called in. The first call of /busy is told to retry later. */
async function startTool() {
  const heard: (string | undefined)[] = [];
  let busy = true;
  const server = createServer(({ url, headers }, response) => {
    heard.push(headers.traceparent?.toString());
    if (url === '/busy' && busy) {
      busy = false;
      response.writeHead(503, { 'retry-after': '60' }).end();
    } else response.setHeader('content-type', 'application/json').end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, heard };
}

describe.each(queues)('with traces sent to a collector, on the $name queue', (queue) => {
  let cluster: Cluster;
  let url: string;
  let collector: Awaited<ReturnType<typeof startTraceCollector>>;
  let http: Awaited<ReturnType<typeof startTool>>;
  beforeAll(async () => {
    [collector, http] = await Promise.all([startTraceCollector(), startTool()]);
    cluster = await startCluster({
      redis: await redisFor(queue),
      runners: 'builtin,api,mcp',
      env: { ...collector.env, CAPSTAN_LOG_LEVEL: 'debug', CAPSTAN_LEASE_MS: '30000', CAPSTAN_METRICS_PORT: '0' },
    });
    [, url = ''] = await cluster.gateway.process.waitForLine(/"url":"([^"]+)".*gateway started/);
    await cluster.client.policies.put('default', POLICY);
  });

  const metricsOf = async (service: Cluster['coordinator'] | undefined) => {
    const [, at = ''] = (await service?.waitForLine(/"(?:metrics|url)":"([^"]+\/metrics)"/)) ?? [];
    return (await fetch(at)).text();
  };
  let calls = 0;
  /** Submits like a caller that has its own trace. */
  const submit = async (body: object) => {
    calls += 1;
    const trace_id = `${'0'.repeat(30)}${queue.name === 'redis' ? 'a' : 'b'}${calls}`;
    const response = await fetch(`${url}/v1/invocations?wait=30`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${CLUSTER_KEY}`,
        'content-type': 'application/json',
        traceparent: `00-${trace_id}-00000000000000ff-01`,
        'x-request-id': `request-${calls}`,
      },
      body: JSON.stringify(body),
    });
    const invocation: Invocation = JSON.parse(await response.text());
    return { trace_id, invocation, request_id: response.headers.get('x-request-id') };
  };
  /** Waits until there is a span for each of these names or prefixes, because every process sends its spans at its own time. */
  const spansOf = (trace_id: string, ...names: string[]) =>
    eventually(() => {
      const spans = collector.of(trace_id);
      const missing = [...names];
      for (const { name } of spans) {
        const at = missing.findIndex((first) => name.startsWith(first));
        if (at >= 0) missing.splice(at, 1);
      }
      expect(missing).toEqual([]);
      return spans;
    });
  const settled = (trace_id: string) => spansOf(trace_id, 'POST ', 'send ', 'process ', 'execute_tool ', 'settle ');

  test('a call to an HTTP tool is one trace, from its caller to the tool and the settlement', async () => {
    const { trace_id, invocation } = await submit({
      tool_id: 'api.call',
      inputs: { method: 'GET', url: `${http.url}/ok` },
    });
    expect(invocation.status).toBe('succeeded');
    const spans = await settled(trace_id);
    const executed = spans.find(({ name }) => name === 'execute_tool api.call');
    expect(http.heard.at(-1)).toBe(`00-${trace_id}-${executed?.spanId}-01`);
    expect(spans.find(({ kind }) => kind === 2)?.parentSpanId).toBe('00000000000000ff');
    const of = (key: string) => executed && textOf(executed.attributes, key);
    expect(of('gen_ai.operation.name')).toBe('execute_tool');
    expect(of('gen_ai.tool.call.id')).toBe(invocation.invocation_id);
    expect(of('gen_ai.tool.call.arguments')).toBeUndefined();
  });

  test('an MCP server gets the trace in _meta', async () => {
    await cluster.client.mcpServers.add({ name: 'fixture', command: 'node', args: [FIXTURE] });
    const { trace_id, invocation } = await submit({ tool_id: 'mcp:fixture:traceparent', inputs: {} });
    const executed = (await settled(trace_id)).find(({ name }) => name.startsWith('execute_tool'));
    expect(JSON.stringify(invocation.result?.payload)).toContain(`00-${trace_id}-${executed?.spanId}-01`);
  });

  test('a call of an MCP client joins the trace in its _meta', async () => {
    const trace_id = `${'0'.repeat(29)}c0${queue.name === 'redis' ? 'a' : 'b'}`;
    const params = {
      name: 'cap_test_math_add',
      arguments: { a: 1, b: 2 },
      _meta: { traceparent: `00-${trace_id}-00000000000000ff-01` },
    };
    const response = await fetch(`${url}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${CLUSTER_KEY}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    });
    expect(await response.text()).toContain('"structuredContent":{"result":3}');
    const spans = await spansOf(trace_id, 'mcp tools/call', 'process ', 'execute_tool cap:test_math:add');
    expect(spans.find(({ name }) => name === 'mcp tools/call')?.parentSpanId).toBe('00000000000000ff');
  });

  test('a retry is a separate trace that is linked to the submission', async () => {
    const { trace_id, invocation } = await submit({
      tool_id: 'api.call',
      inputs: { method: 'GET', url: `${http.url}/busy` },
      max_attempts: 2,
    });
    expect(invocation).toMatchObject({ status: 'succeeded', attempt: 2 });
    const submitted = await settled(trace_id);
    const sent = submitted.find(({ name }) => name === 'send api');
    const retry = await eventually(
      () => collector.spans.find(({ links }) => links.some(({ spanId }) => spanId === sent?.spanId)) ?? false,
    );
    expect(retry).toMatchObject({ name: 'process api', links: [{ traceId: trace_id }] });
    expect(retry.parentSpanId).toBeFalsy();
    expect(retry.traceId).not.toBe(trace_id);
    const retried = await spansOf(retry.traceId, 'process ', 'execute_tool api.call', 'settle ');
    const page = fileURLToPath(new URL('docs/reference/traces.md', findRepository()));
    await expect(traceReference(drawTrace([...submitted, ...retried]))).toMatchFileSnapshot(page);
  });

  test('a hold is an event in the trace of the submission, and the released call runs in that trace', async () => {
    const { trace_id, invocation } = await submit({ tool_id: 'cap:test_math:multiply', inputs: { a: 2, b: 3 } });
    expect(invocation.status).toBe('held');
    await cluster.client.holds.release(invocation.hold_id ?? '');
    const spans = await settled(trace_id);
    const eventsOf = (name: string) => spans.find((span) => span.name === name)?.events.map((event) => event.name);
    expect(eventsOf('send builtin')).toEqual(['policy.decision', 'hold']);
    expect(eventsOf('process builtin')).toEqual(['wait', 'policy.decision', 'hold.approved']);
  });

  // The queue makes no difference.
  test.runIf(queue.name === 'postgres')(
    'inputs and results are on the span of a tool if asked for, redacted',
    async () => {
      await cluster.startWorker({ runners: 'file', env: { CAPSTAN_TRACE_CONTENT: 'yes' } });
      const inputs = { path: 'key.txt', content: `It is ${CLUSTER_KEY}.` };
      const { trace_id, invocation } = await submit({ tool_id: 'fs.write', inputs });
      expect(invocation.status).toBe('succeeded');
      const executed = (await settled(trace_id)).find(({ name }) => name === 'execute_tool fs.write');
      const of = (key: string) => textOf(executed?.attributes ?? [], `gen_ai.tool.call.${key}`);
      expect(of('arguments')).toContain('"path":"key.txt"');
      expect(of('arguments')).not.toContain(CLUSTER_KEY);
      expect(JSON.parse(of('result') ?? '')).toEqual(invocation.result?.payload);
    },
  );

  test('steps of a plan are sent and run in the trace of the request that submitted the plan', async () => {
    const trace_id = `${'0'.repeat(29)}${queue.name === 'redis' ? 'a' : 'b'}aa`;
    const add = (id: string, needs: string[] = []) => ({ id, tool: 'cap:test_math:add', args: { a: 1, b: 2 }, needs });
    const response = await fetch(`${url}/v1/runs`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${CLUSTER_KEY}`,
        'content-type': 'application/json',
        traceparent: `00-${trace_id}-00000000000000ff-01`,
      },
      body: JSON.stringify({ plan: { name: 'two', steps: [add('first'), add('second', ['first'])] } }),
    });
    expect(response.status).toBe(202);
    const each = ['send builtin', 'process builtin', 'settle builtin'];
    const ended = await spansOf(trace_id, 'POST /v1/runs', ...each, ...each);
    const request = ended.find(({ name }) => name === 'POST /v1/runs');
    const sent = ended.filter(({ name }) => name === 'send builtin');
    expect(sent).toMatchObject([1, 2].map(() => ({ service: 'capstan-coordinator', parentSpanId: request?.spanId })));
    const processed = ended.filter(({ name }) => name === 'process builtin').map(({ parentSpanId }) => parentSpanId);
    expect(processed.toSorted()).toEqual(sent.map(({ spanId }) => spanId).toSorted());
  });

  test('each start of a schedule is a separate trace, down to the tool', async () => {
    const { schedule_id } = await cluster.client.schedules.create({
      name: 'sums',
      every_ms: 1000,
      tool_id: 'cap:test_math:add',
      inputs: { a: 1, b: 2 },
    });
    onTestFinished(() => cluster.client.schedules.remove(schedule_id));
    const fired = await eventually(
      () =>
        collector.spans.find(
          ({ name, attributes }) =>
            name === 'fire schedule' && textOf(attributes, 'capstan.schedule_id') === schedule_id,
        ) ?? false,
    );
    expect(fired.parentSpanId).toBeFalsy();
    const names = [
      'execute_tool cap:test_math:add',
      'fire schedule',
      'process builtin',
      'send builtin',
      'settle builtin',
    ];
    const spans = await spansOf(fired.traceId, ...names);
    expect(spans.map(({ name }) => name).toSorted()).toEqual(names);
  });

  test('an app worker gets the trace with its call, and its queue has metrics and a /scale endpoint', async () => {
    const pool = `traced-${queue.name}`;
    const { key } = await cluster.client.keys.create({ tenant: 'default', actor: pool, roles: ['serve'], pool });
    const told = tool({
      id: 'told',
      description: 'Says which trace it is called in',
      input: z.object({}),
      risk: 'LOW',
      side_effects: [],
      effects: { idempotent: true },
      run: (_, { traceparent }) => ({ traceparent }),
    });
    const worker = await serveTools({ url, key, pool, tools: [told], concurrency: 3 });
    onTestFinished(() => worker.stop());
    const { trace_id, invocation } = await submit({ tool_id: `app:${pool}:told`, inputs: {} });
    const spans = await settled(trace_id);
    const executed = spans.find(({ name }) => name.startsWith('execute_tool'));
    expect(invocation.result?.payload).toEqual({ traceparent: `00-${trace_id}-${executed?.spanId}-01` });
    expect(spans.map(({ name }) => name)).toContain(`process app/${pool}`);

    const scale = await fetch(`${url}/v1/queues/app%2F${pool}/scale`, {
      headers: { authorization: `Bearer ${CLUSTER_KEY}` },
    });
    expect(await scale.json()).toEqual({ waiting: 0, running: 0, oldest_wait_s: 0, slots: 3, desired: 0 });
    const metrics = await metricsOf(cluster.gateway.process);
    expect(metrics).toContain(`capstan_queue_slots{runner="app/${pool}"} 3`);
    expect(metrics).toContain(`capstan_attempts_total{runner="app/${pool}",outcome="succeeded"} 1`);
  });

  test('denials are counted by code where they are made: in a gateway, a coordinator or a worker', async () => {
    const denied = { tool: 'fs.read', args: { path: 'a' } };
    await submit({ tool_id: denied.tool, inputs: denied.args });
    const { run_id } = await cluster.client.runs.submit({ plan: { name: 'denied', steps: [{ id: 'a', ...denied }] } });
    expect(await cluster.client.runs.wait(run_id, { timeout_s: 30 })).toMatchObject({ denied_steps: 1 });
    const inputs = { method: 'GET', url: 'http://169.254.169.254/' };
    expect((await submit({ tool_id: 'api.call', inputs })).invocation.status).toBe('denied');
    for (const [service, code] of [
      [cluster.gateway.process, 'NO_RULE'],
      [cluster.coordinator, 'NO_RULE'],
      [[...cluster.workers][0], 'EGRESS_DENIED'],
    ] as const)
      await eventually(async () =>
        expect(await metricsOf(service)).toContain(`capstan_denials_total{code="${code}"} 1\n`),
      );
  });

  test('log lines of all services have the trace id and the same shape', async () => {
    const { trace_id, invocation, request_id } = await submit({ tool_id: 'cap:test_math:add', inputs: { a: 1, b: 2 } });
    const { invocation_id, run_id } = invocation;
    expect(request_id).toBe(`request-${calls}`);
    const lineOf = async (process: Cluster['coordinator'] | undefined, text: string) => {
      const [line = '{}'] = (await process?.waitForLine(new RegExp(`^.*${trace_id}.*${text}.*$`))) ?? [];
      return JSON.parse(line);
    };
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(await lineOf(cluster.gateway.process, 'request answered')).toMatchObject({
      time,
      level: 'debug',
      service: 'gateway',
      trace_id,
      request_id,
      invocation_id,
      run_id,
      tenant: 'default',
      status: 200,
    });
    expect(await lineOf([...cluster.workers][0], 'attempt ended')).toMatchObject({
      time,
      level: 'debug',
      service: 'worker',
      trace_id,
      invocation_id,
      run_id,
      tenant: 'default',
      outcome: 'succeeded',
    });
  });
});
