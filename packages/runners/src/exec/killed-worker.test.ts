import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, test, vi } from 'vitest';
import { processesWith } from '../testing/processes-with.js';
import { worksHere } from '../testing/works-here.js';

// The built package, because a worker is a process of its own.
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
    redact: createRedactor({ values: [] }),
    log: (_, text) => process.stdout.write(text),
  });`;

describe.each(['bubblewrap', 'namespaces', 'process'] as const)('a worker that is killed -9', (level) => {
  const { works, name } = worksHere(level);

  test.skipIf(!works)(`leaves neither processes nor directories: ${name}`, async () => {
    const work_dir = await mkdtemp(join(tmpdir(), 'of a worker-'));
    const mark = `61.${process.pid}${level.length}`;
    const process_of_worker = execa(process.execPath, ['--input-type=module', '-e', worker, work_dir, level, mark], {
      cwd: join(import.meta.dirname, '../..'),
      reject: false,
    });
    await new Promise((resolve) => process_of_worker.stdout.once('data', resolve));
    expect((await processesWith(mark)).length).toBeGreaterThan(2);

    process_of_worker.kill('SIGKILL');
    await vi.waitFor(async () => expect(await processesWith(mark)).toEqual([]), 5000);
    // Which tenant has which user stays.
    const left = async () => (await readdir(work_dir)).filter((name) => name !== 'users');
    await vi.waitFor(async () => expect(await left()).toEqual([]), 5000);
    await rm(work_dir, { recursive: true });
  });
});
