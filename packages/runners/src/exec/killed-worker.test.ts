import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { processesWith, worksHere } from '@capstan/sandbox/testing';
import { execa } from 'execa';
import { describe, expect, test, vi } from 'vitest';

// The built package, because the worker is a separate process.
const worker = `
  import { createRedactor } from '@capstan/redact';
  import { createExecRunner } from './dist/exec/create-exec-runner.js';
  const [work_dir, level, mark] = process.argv.slice(1);
  const runner = createExecRunner({ work_dir, sandbox_levels: [level] });
  await runner.run({
    tenant: 'acme',
    descriptor: { tool_id: 'shell.run', risk: 'LOW', effects: {}, binding: { kind: 'native' } },
    inputs: { cmd: ['sh', '-c', 'touch file; setsid sleep ' + mark + ' & sleep ' + mark + ' & echo ready; wait'] },
    limits: { timeout_ms: 60000, max_output_bytes: 1000, shell: true },
    signal: new AbortController().signal,
    beforeEffect: () => {},
    redact: createRedactor({ values: [] }),
    log: (_, text) => process.stdout.write(text),
    beforeEffect: () => {},
  });`;

describe.each(['bubblewrap', 'namespaces', 'process'] as const)('a worker that is killed with SIGKILL', (level) => {
  const { works, name } = worksHere(level);

  test.skipIf(!works)(`leaves neither processes nor directories: ${name}`, async () => {
    const work_dir = await mkdtemp(join(tmpdir(), 'of a worker-'));
    const mark = `61.${process.pid}${level.length}`;
    const process_of_worker = execa(process.execPath, ['--input-type=module', '-e', worker, work_dir, level, mark], {
      cwd: join(import.meta.dirname, '../..'),
      reject: false,
    });
    const ended = process_of_worker.then(({ stderr }) => expect.fail(`the worker ended: ${stderr}`));
    await Promise.race([once(process_of_worker.stdout, 'data'), ended]);
    expect((await processesWith(mark)).length).toBeGreaterThan(2);

    process_of_worker.kill('SIGKILL');
    await vi.waitFor(async () => expect(await processesWith(mark)).toEqual([]), 30_000);
    // The assignment of users to tenants stays.
    const left = async () => (await readdir(work_dir)).filter((name) => name !== 'users');
    await vi.waitFor(async () => expect(await left()).toEqual([]), 30_000);
    await rm(work_dir, { recursive: true });
  });
});
