import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Invocation } from '@capstan/contracts';
import { beforeAll, describe, expect, test } from 'vitest';
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
    { id: 'all', effect: 'allow', match: { tool: ['mcp:*', 'cap:*', 'api.call'] } },
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

/** An HTTP tool that tells which trace it is called in. /busy asks to be called later, once. */
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

describe.each(queues)('with traces sent to a collector, on the $name queue', { timeout: 60_000 }, (queue) => {
  let cluster: Cluster;
  let url: string;
  let collector: Awaited<ReturnType<typeof startTraceCollector>>;
  let tool: Awaited<ReturnType<typeof startTool>>;
  beforeAll(async () => {
    [collector, tool] = await Promise.all([startTraceCollector(), startTool()]);
    cluster = await startCluster({
      redis: await redisFor(queue),
      runners: 'builtin,api,mcp',
      env: { ...collector.env, CAPSTAN_LOG_LEVEL: 'debug', CAPSTAN_LEASE_MS: '30000' },
    });
    [, url = ''] = await cluster.gateway.process.waitForLine(/"url":"([^"]+)".*gateway started/);
    await cluster.client.policies.put('default', POLICY);
  }, 60_000);

  let calls = 0;
  /** As a caller that is part of a trace of its own. */
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
  const settled = (trace_id: string) =>
    eventually(() => {
      const spans = collector.of(trace_id);
      return ['POST ', 'process '].every((first) => spans.some(({ name }) => name.startsWith(first))) && spans;
    });

  test('a call to an HTTP tool is one trace, from its caller to the tool and the settlement', async () => {
    const { trace_id, invocation } = await submit({
      tool_id: 'api.call',
      inputs: { method: 'GET', url: `${tool.url}/ok` },
    });
    expect(invocation.status).toBe('succeeded');
    const spans = await settled(trace_id);
    const executed = spans.find(({ name }) => name === 'execute_tool api.call');
    expect(tool.heard.at(-1)).toBe(`00-${trace_id}-${executed?.spanId}-01`);
    expect(spans.find(({ kind }) => kind === 2)?.parentSpanId).toBe('00000000000000ff');
    const of = (key: string) => executed && textOf(executed.attributes, key);
    expect(of('gen_ai.operation.name')).toBe('execute_tool');
    expect(of('gen_ai.tool.call.id')).toBe(invocation.invocation_id);
    expect(of('gen_ai.tool.call.arguments')).toBeUndefined();
    const page = fileURLToPath(new URL('docs/reference/traces.md', findRepository()));
    await expect(traceReference(drawTrace(spans))).toMatchFileSnapshot(page);
  });

  test('an MCP server is told of the trace in _meta', async () => {
    await cluster.client.mcpServers.add({ name: 'fixture', command: 'node', args: [FIXTURE] });
    const { trace_id, invocation } = await submit({ tool_id: 'mcp:fixture:traceparent', inputs: {} });
    const executed = (await settled(trace_id)).find(({ name }) => name.startsWith('execute_tool'));
    expect(JSON.stringify(invocation.result?.payload)).toContain(`00-${trace_id}-${executed?.spanId}-01`);
  });

  test('a retry is a trace of its own that is linked to the submission', async () => {
    const { trace_id, invocation } = await submit({
      tool_id: 'api.call',
      inputs: { method: 'GET', url: `${tool.url}/busy` },
      max_attempts: 2,
    });
    expect(invocation).toMatchObject({ status: 'succeeded', attempt: 2 });
    const sent = (await settled(trace_id)).find(({ name }) => name === 'send api');
    const retry = await eventually(
      () => collector.spans.find(({ links }) => links.some(({ spanId }) => spanId === sent?.spanId)) ?? false,
    );
    expect(retry).toMatchObject({ name: 'process api', links: [{ traceId: trace_id }] });
    expect(retry.parentSpanId).toBeFalsy();
    expect(retry.traceId).not.toBe(trace_id);
    expect(collector.of(retry.traceId).map(({ name }) => name)).toContain('execute_tool api.call');
  });

  test('a hold is an event of the submission, and what was released runs in its trace', async () => {
    const { trace_id, invocation } = await submit({ tool_id: 'cap:test_math:multiply', inputs: { a: 2, b: 3 } });
    expect(invocation.status).toBe('held');
    await cluster.client.holds.release(invocation.hold_id ?? '');
    const spans = await settled(trace_id);
    const eventsOf = (name: string) => spans.find((span) => span.name === name)?.events.map((event) => event.name);
    expect(eventsOf('send builtin')).toEqual(['policy.decision', 'hold']);
    expect(eventsOf('process builtin')).toEqual(['wait', 'policy.decision', 'hold.approved']);
  });

  test('log lines have the ids to join them by, in one shape', async () => {
    const { trace_id, invocation, request_id } = await submit({ tool_id: 'cap:test_math:add', inputs: { a: 1, b: 2 } });
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
      tenant: 'default',
      status: 200,
    });
    const { invocation_id } = invocation;
    expect(await lineOf([...cluster.workers][0], 'attempt ended')).toMatchObject({
      time,
      level: 'debug',
      service: 'worker',
      trace_id,
      invocation_id,
      tenant: 'default',
      outcome: 'succeeded',
    });
  });
});
