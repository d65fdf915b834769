import { existsSync, readFileSync } from 'node:fs';
import type { JsonObject } from '@capstan/contracts';
import { isRunOver } from '@capstan/contracts';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../fixtures/eventually.js';
import { add } from './ended-bulk.js';
import { endedPlan } from './ended-plan.js';
import { ALLOW_ALL, type System, startSystem } from './start-system.js';
import { stepHashes } from './step-hashes.js';

let system: System;
beforeAll(async () => {
  system = await startSystem({ name: 'postgres' });
  await system.admin.policies.put('default', ALLOW_ALL);
});

describe('a replay', () => {
  test('has the stored results in the stored order, executes nothing, and verifies', async () => {
    const run_id = await endedPlan(system);
    const { plan_hash } = await system.admin.runs.get(run_id);
    await expect(system.admin.records.replay(run_id, { plan_hash: `sha256:${'0'.repeat(64)}` })).rejects.toMatchObject({
      code: 4002,
    });
    const replay = await system.admin.records.replay(run_id, plan_hash === null ? {} : { plan_hash });
    expect(await system.admin.runs.get(replay.run_id)).toMatchObject({
      mode: 'replay',
      replay_of: run_id,
      status: 'completed',
      plan_hash,
    });
    expect(await stepHashes(system, replay.run_id)).toEqual(await stepHashes(system, run_id));
    const { rows } =
      await sql`SELECT FROM ended_attempts a JOIN invocations i USING (invocation_id) WHERE i.run_id = ${replay.run_id}`.execute(
        system.store.db,
      );
    expect(rows).toHaveLength(0);
    expect(await system.admin.records.verify(replay.run_id)).toMatchObject({ ok: true });
    const lone = await system.admin.submit(add(5), { wait_s: 30 });
    const again = await system.admin.records.replay(lone.run_id);
    expect((await system.admin.list({ run_id: again.run_id }).page()).items).toMatchObject([
      { result: { payload: { result: 6 } } },
    ]);
  });
});

describe('a replay from a step', () => {
  const now = (id: string, needs: string[] = []) => ({ id, tool: 'cap:current_time:get_current_time', needs });
  const BRANCHES = {
    version: '1.0',
    name: 'branches',
    steps: [
      now('first'),
      { ...now('beside'), for_each: [1, 2] },
      now('again', ['first']),
      { id: 'last', tool: 'cap:test_math:add', needs: ['again', 'beside'], args: { a: 1, b: 1 } },
    ],
  };
  const stepsOf = async (run_id: string) => (await system.admin.runs.steps(run_id).page()).items;
  const ended = async (plan: JsonObject) => {
    const { run_id } = await system.admin.runs.submit({ plan });
    return system.admin.runs.wait(run_id, { timeout_s: 60 });
  };

  test('executes that step and those after it, reuses the other results, and can itself be replayed', async () => {
    const { run_id } = await ended(BRANCHES);
    const answer = await system.admin.records.replay(run_id, { from: 'again' });
    expect(answer).toMatchObject({ mode: 'execution', replay_of: run_id, total_steps: 5, reused_steps: 3 });
    const run = await system.admin.runs.wait(answer.run_id, { timeout_s: 60 });
    expect(run).toMatchObject({ status: 'completed', replay_of: run_id, completed_steps: 5, total_steps: 5 });
    const [was, is] = [await stepsOf(run_id), await stepsOf(answer.run_id)];
    expect(is.map(({ step_id, reused_from }) => [step_id, reused_from])).toEqual([
      ['first', run_id],
      ['beside', run_id],
      ['beside', run_id],
      ['again', null],
      ['last', null],
    ]);
    const same = is.map(({ result }, at) => result?.output_hash === was[at]?.result?.output_hash);
    expect(same).toEqual([true, true, true, false, true]);
    expect(await system.admin.records.verify(answer.run_id)).toMatchObject({ ok: true });
    const { steps } = await system.admin.records.report(answer.run_id);
    expect(steps.map(({ reused_from }) => reused_from !== null)).toEqual([true, true, true, false, false]);
    const again = await system.admin.records.replay(answer.run_id, { from: 'last' });
    await system.admin.runs.wait(again.run_id, { timeout_s: 60 });
    expect((await stepsOf(again.run_id)).map(({ reused_from }) => reused_from)).toEqual([
      ...[run_id, run_id, run_id, answer.run_id, null],
    ]);
  });

  test('repeats a failed step under the policy in force, and is refused from a step after the failure', async () => {
    const { run_id, status } = await ended({
      version: '1.0',
      steps: [
        now('first'),
        { id: 'broken', tool: 'shell.run', needs: ['first'], args: { cmd: ['false'] } },
        now('last', ['broken']),
      ],
    });
    expect(status).toBe('failed');
    const { records, policies, runs } = system.admin;
    await expect(records.replay(run_id, { from: 'nowhere' })).rejects.toMatchObject({ code: 4005 });
    await expect(records.replay(run_id, { from: 'last' })).rejects.toMatchObject({
      code: 3005,
      suggestion: 'Replay from broken.',
    });
    await policies.put('default', {
      ...ALLOW_ALL,
      rules: [...ALLOW_ALL.rules, { id: 'no', effect: 'forbid', match: { tool: 'shell.run' } }],
    });
    const again = await records.replay(run_id, { from: 'broken' });
    await runs.wait(again.run_id, { timeout_s: 60 });
    expect((await stepsOf(again.run_id)).map((step) => `${step.step_id} ${step.status}`)).toEqual([
      ...['first succeeded', 'broken denied', 'last skipped'],
    ]);
    await policies.put('default', ALLOW_ALL);
  });
});

describe('a replay that executes', () => {
  test('names its steps like the plan, and does not mark executed calls as replayed', async () => {
    const { records, runs, list } = system.admin;
    const plan = { version: '1.0', steps: [{ id: 'sum', tool: 'cap:test_math:add', args: { a: 1, b: 1 } }] };
    const { run_id } = await runs.submit({ plan });
    await runs.wait(run_id, { timeout_s: 60 });
    const again = await records.replay(run_id, { re_execute: true });
    await eventually(async () => expect((await runs.get(again.run_id)).finished_at).not.toBeNull());
    expect((await runs.steps(again.run_id).page()).items.map(({ step_id }) => step_id)).toEqual(['sum']);
    expect((await records.report(again.run_id)).steps.map(({ step_id }) => step_id)).toEqual(['sum']);
    const replay = await records.replay(run_id, {});
    const replayed = async (of: string) => (await list({ run_id: of }).page()).items.map(({ replay_of }) => replay_of);
    expect(await replayed(replay.run_id)).toEqual([run_id]);
    expect(await replayed(again.run_id)).toEqual([undefined]);
    expect(await replayed(run_id)).toEqual([undefined]);
  });

  test('runs calls without side effects, holds the others, and lists the outputs that differ', async () => {
    const { run_id } = await system.admin.submitBulk([
      add(1),
      { tool_id: 'cap:current_time:get_current_time' },
      { tool_id: 'shell.run', inputs: { cmd: ['true'] } },
    ]);
    await eventually(async () => expect((await system.admin.runs.get(run_id)).finished_at).not.toBeNull());
    const again = await system.admin.records.replay(run_id, { re_execute: true });
    expect(again).toMatchObject({ mode: 'execution', replay_of: run_id, total_steps: 3 });
    await eventually(async () => {
      const { items } = await system.admin.records.differences(again.run_id).page();
      expect(items.map(({ tool_id, status, outcome }) => `${tool_id} ${status} ${outcome}`)).toEqual([
        'cap:test_math:add succeeded same',
        'cap:current_time:get_current_time succeeded differs',
        'shell.run held not_executed',
      ]);
      expect(items[1]?.differences[0]?.path).toMatch(/^\/\w+/);
    });
  });
});

const CAPSULE = new URL('../../../shared/corpora/capsule/', import.meta.url);

describe.skipIf(!existsSync(CAPSULE))('the plans of Capsule (skipped without the corpus)', () => {
  // The other three plans fetch from the internet.
  test.each([
    ['simple_read', 'workspace'],
    ['copy_file', 'workspace'],
    ['create_notes', 'workspace'],
    ['read_project_files', 'development'],
    ['git_status', 'git_workflow'],
  ])('%s runs under %s as Capsule wrote both, reports, replays and verifies', async (name, its_policy) => {
    const plan = readFileSync(new URL(`plans/${name}.yaml`, CAPSULE), 'utf8');
    const policy = readFileSync(new URL(`policies/${its_policy}.yaml`, CAPSULE), 'utf8');
    const { run_id } = await system.admin.runs.submit({ plan, policy });
    const run = await system.admin.runs.wait(run_id, { timeout_s: 60 });
    expect(isRunOver(run.status)).toBe(true);
    expect(run.denied_steps).toBe(0);
    const report = await system.admin.records.report(run_id);
    expect(report).toMatchObject({
      run: { status: run.status },
      verification: { ok: true },
      steps: { length: run.total_steps },
    });
    const replay = await system.admin.records.replay(run_id, { plan_hash: run.plan_hash ?? '' });
    expect(await stepHashes(system, replay.run_id)).toEqual(await stepHashes(system, run_id));
    expect(await system.admin.records.verify(replay.run_id)).toMatchObject({ ok: true });
    const { resources } = (await system.admin.records.report(replay.run_id)).summary;
    expect(resources, 'nothing ran').toEqual({
      files_read: [],
      files_written: [],
      domains_contacted: [],
      processes: 0,
    });
  });
});
