import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Limits } from '@capstan/contracts';
import { afterAll, expect, test } from 'vitest';
import { createMcpRunner } from './create-mcp-runner.js';
import { callOf, FIXTURE, textOf } from './testing/use-test-mcp.js';

const work_dir = await mkdtemp(join(tmpdir(), 'capstan-mcp-'));
const runner = createMcpRunner({
  work_dir,
  env: { PATH: process.env.PATH },
  sandbox_levels: ['process'],
  ports: {
    server: async (name) => ({ config: { name, command: 'node', args: [FIXTURE] }, allow_private: true }),
    stale: () => {},
    onChange: () => {},
  },
});
afterAll(async () => {
  await runner.close?.();
  await rm(work_dir, { recursive: true });
});

const LIMITS: Limits = { timeout_ms: 30_000, max_output_bytes: 1_000_000 };
const echo = (limits: Limits) => runner.run(callOf('bare', 'echo', { value: 'here' }, { limits }));

test('a program without a sandbox is not called under a policy that limits the network', async () => {
  expect(textOf(await echo(LIMITS))).toBe('here');
  const refused = { success: false, kind: 'SANDBOX_UNAVAILABLE' };
  expect(await echo({ ...LIMITS, network: 'none' })).toMatchObject(refused);
  expect(await echo({ ...LIMITS, network: ['example.com'] })).toMatchObject(refused);
  expect(await echo({ ...LIMITS, deny_domains: ['example.com'] })).toMatchObject(refused);
});
