import { text } from 'node:stream/consumers';
import { describe, expect, test, vi } from 'vitest';
import { serve } from '../testing/serve.js';
import { createMcpRunner } from './create-mcp-runner.js';
import { callOf, textOf, useTestMcp } from './testing/use-test-mcp.js';

const { servers, work_dir, run, startHttp, addHttp } = await useTestMcp();

describe('an endpoint', () => {
  test('that was killed gives a clear error, and works again after a restart', async () => {
    const { port, kill } = await addHttp('killed');
    const waiting = run('killed', 'wait');
    await vi.waitFor(async () => expect((await run('killed', 'echo')).success).toBe(true), 30_000);
    await kill();
    expect(await waiting).toMatchObject({ success: false, kind: 'MCP_SERVER_FAILED' });
    expect(await run('killed', 'echo')).toMatchObject({ success: false });
    await startHttp({}, port);
    await vi.waitFor(async () => expect(textOf(await run('killed', 'echo', { value: 'back' }))).toBe('back'), {
      timeout: 30_000,
    });
  });

  test('that was restarted between calls is called again under a new session', async () => {
    const { port, kill } = await addHttp('restarted');
    await run('restarted', 'echo');
    await kill();
    await startHttp({}, port);
    expect(textOf(await run('restarted', 'echo', { value: 'again' }))).toBe('again');
  });

  test('that ends a stream before the answer fails that call', async () => {
    const abrupt = await serve((request, response) => {
      void text(request).then((body) => {
        const message = body === '' ? {} : JSON.parse(body);
        if (message.method === 'tools/call') {
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          response.write(': thinking\n\n', () => response.destroy());
        } else if (message.method === 'initialize') {
          const result = {
            protocolVersion: message.params.protocolVersion,
            capabilities: { tools: {} },
            serverInfo: { name: 'abrupt', version: '1' },
          };
          response.writeHead(200, { 'content-type': 'application/json' });
          response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }));
        } else response.writeHead(request.method === 'POST' ? 202 : 405).end();
      });
    });
    servers.set('abrupt', { name: 'abrupt', url: `${abrupt}/mcp` });
    const outcome = await run('abrupt', 'echo');
    expect(outcome).toMatchObject({ success: false, kind: 'MCP_SERVER_FAILED' });
    expect(textOf(outcome)).toContain('disconnected during the call');
  });

  test('gets its headers, with secrets by reference', async () => {
    const { url } = await startHttp({ FIXTURE_TOKEN: 'tok-0123456789abcdef' });
    servers.set('guarded', { name: 'guarded', url, headers: { Authorization: 'Bearer secret://token' } });
    const secret = async () => 'tok-0123456789abcdef';
    expect(textOf(await run('guarded', 'echo', { value: 'in' }, { secret }))).toBe('in');
    servers.set('guarded', { name: 'guarded', url });
    const refused = await run('guarded', 'echo');
    expect(refused).toMatchObject({ success: false, retryable: false });
    expect(refused.success || refused.error).toContain('refuses the credentials');
  });

  test('that takes its time for the first answer is waited for as long as a server may take to start', async () => {
    const silent = await serve(() => {});
    const config = { name: 'silent', url: `${silent}/mcp` };
    const ports = { server: async () => ({ config, allow_private: true }), stale: () => {}, onChange: () => {} };
    const impatient = createMcpRunner({ work_dir, ports, start_ms: 300 });
    const begun = performance.now();
    expect(await impatient.run(callOf('silent', 'echo'))).toMatchObject({ success: false, retryable: true });
    expect(performance.now() - begun).toBeLessThan(3000);
    await impatient.close?.();
  });

  test('on a private address is refused unless the operator registered that host', async () => {
    const url = 'http://127.0.0.1:9/mcp';
    const strict = createMcpRunner({
      work_dir,
      ports: {
        server: async () => ({ config: { name: 'private', url }, allow_private: false }),
        stale: () => {},
        onChange: () => {},
      },
    });
    const outcome = await strict.run(callOf('private', 'echo'));
    expect(outcome).toMatchObject({ success: false, kind: 'EGRESS_DENIED' });
    await strict.close?.();
  });

  test('that the policy of the call does not name is not contacted', async () => {
    servers.set('elsewhere', { name: 'elsewhere', url: 'http://127.0.0.1:9/mcp' });
    const limits = { timeout_ms: 30_000, max_output_bytes: 1_000_000, network: ['example.com'] };
    expect(await run('elsewhere', 'echo', {}, { limits })).toMatchObject({ success: false, kind: 'EGRESS_DENIED' });
  });
});
