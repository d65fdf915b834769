import { fileURLToPath } from 'node:url';
import type { Step } from '@capstan/contracts';
import { beforeAll, describe, expect, test } from 'vitest';
import { findRepository } from '../fixtures/find-repository.js';
import { spawnCapstan } from '../fixtures/spawn-capstan.js';
import { ADMIN_KEY, type System, startSystem } from './start-system.js';

describe('the capstan command', () => {
  let system: System;
  beforeAll(async () => {
    system = await startSystem({ name: 'postgres' });
  });
  const capstan = async (...args: string[]) => {
    const env = { CAPSTAN_URL: system.url, CAPSTAN_API_KEY: ADMIN_KEY };
    const started = await spawnCapstan(args, env, { cwd: fileURLToPath(findRepository()) });
    const { code } = await started.exited;
    return { code, stdout: started.stdout.join('\n'), stderr: started.stderr.join('\n') };
  };
  const SUMS = 'packages/examples/plans/sums.yaml';

  test('prints the output of the last step of a run to a pipe, and a line for each step to stderr', async () => {
    const { code, stdout, stderr } = await capstan('run', SUMS, '--input', 'numbers=[4,5]');
    expect({ code, stdout: stdout.trim() }).toEqual({ code: 0, stdout: '110' });
    for (const line of ['each[0]', 'each[1]', 'sum', 'large']) expect(stderr).toContain(`✓ succeeded  ${line}`);
    expect(stderr).toMatch(/large[\s\S]*✓ completed {2}sums {2}run_/);
  });

  test('prints the output of the step before if the last step of a run was skipped', async () => {
    expect((await capstan('run', SUMS, '--input', 'numbers=[1,2]')).stdout.trim()).toBe('5');
  });

  test('prints a run and its steps as JSON with --json', async () => {
    const { code, stdout } = await capstan('run', 'packages/examples/plans/graph.yaml', '--json');
    expect(code).toBe(0);
    const { status, steps } = JSON.parse(stdout);
    expect([status, steps.map((one: Step) => one.status)]).toEqual([
      'completed',
      ['succeeded', 'succeeded', 'failed', 'succeeded'],
    ]);
    expect(steps[3].result.payload).toEqual({ result: 42 });
  });

  test('shows the decisions on a plan with --dry-run, and explains wrong inputs', async () => {
    const dry = await capstan('run', SUMS, '--dry-run');
    expect([dry.code, dry.stdout]).toEqual([0, expect.stringMatching(/each\[2\] +✓ allow[\s\S]*large +✓ allow/)]);
    const wrong = await capstan('run', SUMS, '--input', 'number=[1]');
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('Did you mean numbers?')]);
  });

  test('shows a run, and lists it among the runs', async () => {
    const run_id = (await capstan('run', SUMS, '--no-wait')).stdout.trim();
    await system.admin.runs.wait(run_id, { timeout_s: 60 });
    expect((await capstan('show', run_id)).stdout).toMatch(/completed[\s\S]*name +sums[\s\S]*each\[0\] +✓ succeeded/);
    expect((await capstan('runs', '--kind', 'plan', '--name', 'sums')).stdout).toContain(run_id);
  });

  test('compares two runs step by step', async () => {
    const run = async (...inputs: string[]) =>
      JSON.parse((await capstan('run', SUMS, ...inputs, '--json')).stdout).run_id;
    const [one, other] = [await run(), await run('--input', 'numbers=[1,5]')];
    const same = await capstan('runs', 'compare', one, one);
    expect([same.code, same.stdout.trim()]).toEqual([0, '0 steps of 5 differ.']);
    const { code, stdout } = await capstan('runs', 'compare', one, other);
    expect(code).toBe(1);
    expect(stdout).toMatch(/each\[1\] {2}succeeded[\s\S]*- {2}"result": 3\n[\s\S]*\+ {2}"result": 6/);
    expect(stdout).toMatch(/each\[2\] {2}succeeded → missing/);
    expect(stdout).not.toMatch(/each\[0\]/);
  });

  test('makes a new call like an earlier one, with changed inputs', async () => {
    const { invocation_id } = await system.admin.submit(
      { tool_id: 'cap:test_math:add', inputs: { a: 2, b: 3 }, labels: { team: 'x' }, session_id: 'like' },
      { wait_s: 30 },
    );
    expect((await capstan('invoke', invocation_id, 'a=40')).stdout.trim()).toBe('43');
    const again = JSON.parse((await capstan('invoke', invocation_id, '--label', 'try=2', '--json')).stdout);
    expect(again).toMatchObject({ inputs: { a: 2, b: 3 }, labels: { team: 'x', try: '2' }, session_id: 'like' });
    expect(again.invocation_id).not.toBe(invocation_id);
  });

  test('adds, lists, pauses and removes schedules', async () => {
    const added = await capstan('schedule', 'add', '--plan', SUMS, '--cron', '0 0 1 1 *', '--name', 'yearly', '--json');
    const { schedule_id } = JSON.parse(added.stdout);
    await capstan('schedule', 'pause', schedule_id);
    expect((await capstan('schedule', 'list')).stdout).toMatch(/yearly +0 0 1 1 \* UTC +a plan +paused/);
    await capstan('schedule', 'remove', schedule_id);
    expect(JSON.parse((await capstan('schedule', 'list', '--json')).stdout).items).toEqual([]);
  });
});
