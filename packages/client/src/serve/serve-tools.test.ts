import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { serve } from '../testing/serve.js';
import { serveTools } from './serve-tools.js';
import { tool } from './tool.js';

test('where every request that waits is cut, claims and beats get through by not waiting', async () => {
  const answered = { claim: 0, beat: 0 };
  const gateway = await serve(({ path, body }, response) => {
    const what = path.split('/').at(-1);
    if (what !== 'claim' && what !== 'beat') return { body: { pool: 'cut', version: '1', tools: [], changed: [] } };
    const { wait_s = 0, state } = JSON.parse(body) as { wait_s?: number; state?: string };
    if (wait_s > 0) {
      response.destroy();
      return undefined;
    }
    if (state !== 'stopped' && state !== 'draining') answered[what] += 1;
    return { body: { calls: [], cancel: [], lost: [], lease_ms: 15_000 } };
  });
  onTestFinished(() => gateway.close());
  const nothing = tool({ id: 'nothing', description: 'Does nothing', input: z.object({}), run: () => null });
  const worker = await serveTools({ url: gateway.url, key: 'k', pool: 'cut', tools: [nothing], onError: () => {} });
  await expect.poll(() => answered, { timeout: 10_000 }).toSatisfy(({ claim, beat }) => claim > 1 && beat > 1);
  await worker.stop();
});

test('a function that needs a secret or stores a file while the gateway restarts waits for it', async () => {
  const call = { invocation_id: 'inv_1', attempt: 1, tool_id: 'app:away:report', inputs: {}, timeout_ms: 30_000 };
  const calls = [
    { ...call, tenant: 'default', actor: 'a', session_id: null, idempotency_key: 'inv_1', traceparent: null },
  ];
  const settled: unknown[] = [];
  const turned_away = new Set<string>();
  const gateway = await serve(({ path, body }) => {
    const [what = ''] = (path.split('/').at(-1) ?? '').split('?');
    const answers: Record<string, unknown> = {
      tools: { pool: 'away', version: '1', tools: [], changed: [] },
      claim: { calls: what === 'claim' ? calls.splice(0) : [], lease_ms: 15_000 },
      beat: { cancel: [], lost: [], lease_ms: 15_000 },
      secrets: { value: 'abc' },
      artifacts: { sha256: 'f', name: 'a.txt', media_type: 'text/plain', size: 3 },
    };
    // As a proxy does whose gateway is away.
    if ((what === 'secrets' || what === 'artifacts') && !turned_away.has(what)) {
      turned_away.add(what);
      return { status: 502, type: 'text/html', body: '<html>Bad Gateway</html>' };
    }
    if (what !== 'settle') return { body: answers[what] };
    const { results } = JSON.parse(body) as { results: { invocation_id: string; attempt: number }[] };
    settled.push(...results);
    return { body: { outcomes: results.map((one) => ({ ...one, outcome: 'taken', status: 'succeeded' })) } };
  });
  onTestFinished(() => gateway.close());
  const report = tool({
    id: 'report',
    description: 'Stores a secret, which nobody should do',
    input: z.object({}),
    run: async (_, { secret, artifact }) => (await artifact('a.txt', await secret('key'))).name,
  });
  const worker = await serveTools({ url: gateway.url, key: 'k', pool: 'away', tools: [report], onError: () => {} });
  await expect.poll(() => settled, { timeout: 10_000 }).toMatchObject([{ status: 'succeeded', payload: 'a.txt' }]);
  await worker.stop();
});
