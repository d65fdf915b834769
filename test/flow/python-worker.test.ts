import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { atEnd } from '../fixtures/at-end.js';
import { eventually } from '../fixtures/eventually.js';
import { findRepository } from '../fixtures/find-repository.js';
import { startLineProcess } from '../fixtures/start-line-process.js';
import { tempDir } from '../fixtures/temp-dir.js';
import { startSystem } from './start-system.js';

const FOLDER = fileURLToPath(new URL('packages/examples/python-worker', findRepository()));

/** The worker of the examples, with one more tool: its result is no JSON. */
const PROGRAM = `import sys; sys.path.insert(0, sys.argv[1]); import worker
worker.TOOLS["strange"] = {**worker.TOOLS["word_count"], "run": lambda inputs, call: {1, 2}}
worker.main()`;

test('a worker in plain Python serves calls, stops a canceled one, and finishes a running one before it exits on SIGTERM', async () => {
  const { url, admin } = await startSystem({ name: 'postgres' });
  const { key } = await admin.keys.create({ tenant: 'default', actor: 'python', roles: ['serve'], pool: 'python' });
  const worker = await startLineProcess({
    command: ['python3', '-c', PROGRAM, FOLDER],
    // Without __pycache__ in the examples.
    env: { PATH: process.env.PATH ?? '', PYTHONDONTWRITEBYTECODE: '1', CAPSTAN_URL: url, CAPSTAN_API_KEY: key },
    cwd: await tempDir(),
  });
  atEnd(() => worker.kill('SIGKILL'));
  await worker.waitForLine(/serves python/);

  const texts = Array.from({ length: 12 }, (_, n) => 'word '.repeat(n + 1));
  const counts = await Promise.all(texts.map((text) => admin.call('app:python:word_count', { text })));
  expect(counts).toEqual(texts.map((_, n) => ({ words: n + 1 })));

  await expect(admin.call('app:python:strange', { text: '' })).rejects.toThrow(/its result cannot be sent: .*JSON/);

  const { invocation_id } = await admin.submit({ tool_id: 'app:python:slow', inputs: { seconds: 30 } });
  await eventually(async () => (await admin.get(invocation_id)).status === 'running');
  await admin.cancel(invocation_id);
  expect(await admin.wait(invocation_id, { timeout_s: 60 })).toMatchObject({ status: 'canceled' });

  const last = await admin.submit({ tool_id: 'app:python:slow', inputs: { seconds: 0.3 } });
  await eventually(async () => (await admin.get(last.invocation_id)).status === 'running');
  worker.kill('SIGTERM');
  expect(await admin.wait(last.invocation_id, { timeout_s: 60 })).toMatchObject({ status: 'succeeded' });
  expect(await worker.exited).toMatchObject({ code: 0 });
});
