import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { processesWith, worksHere } from '@capstan/sandbox/testing';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Runner } from '../runner.js';
import { createMcpRunner } from './create-mcp-runner.js';
import { callOf, FIXTURE, textOf } from './testing/use-test-mcp.js';

describe.each(['bubblewrap', 'namespaces', 'process'] as const)('a server contained by %s', (level) => {
  const { works, name } = worksHere(level);
  describe.skipIf(!works)(name, () => {
    let work_dir: string;
    let runner: Runner;
    beforeAll(async () => {
      work_dir = await mkdtemp(join(tmpdir(), 'capstan-mcp-'));
      runner = createMcpRunner({
        work_dir,
        env: { PATH: process.env.PATH },
        sandbox_levels: [level],
        ports: {
          server: async (server) => ({
            config: { name: server, command: 'node', args: [FIXTURE] },
            allow_private: true,
          }),
          stale: () => {},
          onChange: () => {},
        },
      });
    });
    afterAll(async () => {
      await runner.close?.();
      await rm(work_dir, { recursive: true });
    });
    const call = (tool: string, value = '', tenant = 'acme') => runner.run(callOf('one', tool, { value }, { tenant }));

    test('has a system call filter, and the result says so', async () => {
      const outcome = await call('status');
      expect(outcome.facts?.sandbox).toMatch(`${level}+seccomp`);
      expect(textOf(outcome)).toMatch(/^NoNewPrivs:\s+1\nSeccomp:\s+2$/m);
    });

    test('leaves no processes when it exits', async () => {
      const mark = `66.${process.pid}${level.length}`;
      expect(textOf(await call('daemon', mark))).toBe('it goes on');
      await vi.waitFor(async () => expect((await processesWith(`sleep\0${mark}`)).length).toBe(1), 30_000);
      await call('crash');
      expect(await processesWith(`sleep\0${mark}`)).toEqual([]);
    });

    test('leaves no processes when the worker closes it', async () => {
      const mark = `67.${process.pid}${level.length}`;
      await call('daemon', mark, 'another');
      await vi.waitFor(async () => expect((await processesWith(`sleep\0${mark}`)).length).toBe(1), 30_000);
      await runner.close?.();
      expect(await processesWith(`sleep\0${mark}`)).toEqual([]);
    });
  });
});
