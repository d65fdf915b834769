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
