import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient, Denied, Held, TimedOut } from '@capstan/client';
import { holdIdOf } from '@capstan/contracts';
import { beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../fixtures/eventually.js';
import { spawnCapstan } from '../fixtures/spawn-capstan.js';
import type { LineProcess } from '../fixtures/start-line-process.js';
import { tempDir } from '../fixtures/temp-dir.js';
import { ADMIN_KEY, ALLOW_ALL, type System, startSystem } from './start-system.js';
import { stepsOf } from './steps-of.js';

const SUBTRACT = 'cap:test_math:subtract';
const ADD = 'cap:test_math:add';
const PLAN = {
  version: '1.0',
  name: 'half-held',
  steps: [
    { id: 'one', tool: ADD, args: { a: 1, b: 1 } },
    { id: 'two', tool: SUBTRACT, args: { a: 3, b: 1 } },
  ],
};

let system: System;
beforeAll(async () => {
  system = await startSystem({ name: 'postgres' });
  await system.admin.policies.put('default', {
    ...ALLOW_ALL,
    rules: [
      ...ALLOW_ALL.rules,
      {
        id: 'look',
        effect: 'hold',
        match: { tool: SUBTRACT },
        if: "actor.name != 'solo'",
        approvals: { required: 1, allow_self: true },
        reason: 'differences need a person',
      },
    ],
  });
});

/** Starts `capstan run` and `capstan submit --wait`, each with one sum. */
async function startWaiting(): Promise<LineProcess[]> {
  const cwd = await tempDir();
  await writeFile(join(cwd, 'plan.json'), JSON.stringify({ ...PLAN, steps: PLAN.steps.slice(0, 1) }));
  await writeFile(join(cwd, 'calls.jsonl'), JSON.stringify({ tool_id: ADD, inputs: { a: 1, b: 1 } }));
  const env = { CAPSTAN_URL: system.url, CAPSTAN_API_KEY: ADMIN_KEY };
  return Promise.all([
    spawnCapstan(['run', 'plan.json'], env, { cwd }),
    spawnCapstan(['submit', 'calls.jsonl', '--wait'], env, { cwd }),
  ]);
}

describe('a run with a held step', () => {
  test('is shown as waiting for a person everywhere, until somebody decides', async () => {
    const { admin, url } = system;
    const { run_id } = await admin.runs.submit({ plan: PLAN });
    await eventually(async () => expect(await admin.runs.get(run_id)).toMatchObject({ held_steps: 1 }));
    expect(await admin.runs.get(run_id)).toMatchObject({ status: 'running', completed_steps: 1 });
    expect((await admin.runs.list({ kind: ['plan'] }).page()).items[0]).toMatchObject({ run_id, held_steps: 1 });
    const [, held] = await stepsOf(system.admin, run_id);
    expect(held).toMatchObject({ step_id: 'two', status: 'held', duration_ms: null });
    const report = async (format: string) =>
      (
        await fetch(`${url}/v1/runs/${run_id}/report?format=${format}`, {
          headers: { authorization: `Bearer ${ADMIN_KEY}` },
        })
      ).text();
    expect(await report('text')).toContain('running, waits for a person');
    expect(await report('html')).toContain('waits for a person');
    expect(JSON.parse(await report('json'))).toMatchObject({ run: { held_steps: 1 }, summary: { held_steps: 1 } });
    await admin.holds.release(holdIdOf(held?.invocation_id ?? ''));
    expect(await admin.runs.wait(run_id, { timeout_s: 60 })).toMatchObject({ status: 'completed', held_steps: 0 });

    const lone = await admin.submit({ tool_id: SUBTRACT, inputs: { a: 1, b: 1 } });
    expect(await admin.runs.get(lone.run_id)).toMatchObject({ status: 'running', held_steps: 1 });
    await admin.holds.reject(holdIdOf(lone.invocation_id), 'no');
    expect(await admin.runs.get(lone.run_id)).toMatchObject({ status: 'failed', held_steps: 0 });
  });

  test('shows the same duration of a step in its steps, result, report and timeline', async () => {
    const { admin, url } = system;
    const { run_id } = await admin.runs.submit({ plan: { ...PLAN, steps: PLAN.steps.slice(0, 1) } });
    await admin.runs.wait(run_id, { timeout_s: 60 });
    const [step] = await stepsOf(system.admin, run_id);
    const took = step?.result?.duration_ms;
    expect(step?.duration_ms).toBe(took);
    const headers = { authorization: `Bearer ${ADMIN_KEY}` };
    const json = await (await fetch(`${url}/v1/runs/${run_id}/report`, { headers })).json();
    expect(json).toMatchObject({ steps: [{ duration_ms: took, reused_from: null }] });
    const html = await (await fetch(`${url}/v1/runs/${run_id}/report?format=html`, { headers })).text();
    expect(html).toContain(`class="took">${Math.round(took ?? -1)}ms</text>`);

    const replay = await admin.records.replay(run_id);
    expect(await stepsOf(system.admin, replay.run_id)).toMatchObject([{ status: 'succeeded', reused_from: run_id }]);
    expect((await admin.list({ run_id: replay.run_id }).page()).items).toMatchObject([{ replay_of: run_id }]);
    const replayed = await (await fetch(`${url}/v1/runs/${replay.run_id}/report?format=text`, { headers })).text();
    expect(replayed).toContain(`re-used from ${run_id}`);
  });
});

describe('a call that has not started', () => {
  test('says that its queue is paused, also in the error of a caller who waited for it', async () => {
    const { admin } = system;
    await admin.queues.pause('builtin');
    try {
      const error = await admin.call(ADD, { a: 1, b: 1 }, { wait_s: 1 }).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(TimedOut);
      expect(error).toMatchObject({
        detail: expect.stringContaining('it is queued, and the queue builtin is paused'),
        suggestion: expect.stringContaining('capstan queues resume builtin'),
      });
    } finally {
      await admin.queues.resume('builtin');
    }
  });

  test('says that a quota is used up, or that its start time has not come', async () => {
    const { admin } = system;
    const later = await admin.submit({ tool_id: ADD, inputs: { a: 1, b: 1 }, delay_ms: 3_600_000 });
    expect((await admin.get(later.invocation_id)).waiting).toMatchObject({ cause: 'run_at' });
    await admin.quotas.set(`tool:${ADD}`, { calls_per_day: 0, on_exceed: 'defer' });
    const deferred = await admin.submit({ tool_id: ADD, inputs: { a: 1, b: 1 } });
    expect((await admin.get(deferred.invocation_id)).waiting).toMatchObject({
      cause: 'quota',
      detail: `the quota of tool:${ADD} is used up`,
    });
    await admin.quotas.remove(`tool:${ADD}`);
  });
});

describe('a command that waits for calls that cannot start', () => {
  const QUOTA = `tool:${ADD}`;
  test.each([
    {
      why: 'the queue builtin is paused',
      todo: 'capstan queues resume builtin',
      block: () => system.admin.queues.pause('builtin'),
      free: () => system.admin.queues.resume('builtin'),
    },
    {
      why: `the quota of ${QUOTA} is used up`,
      todo: 'capstan quota usage',
      block: () => system.admin.quotas.set(QUOTA, { calls_per_day: 0, on_exceed: 'defer' }),
      free: () => system.admin.quotas.remove(QUOTA),
    },
  ])('says that $why, and goes on once that is over', async ({ why, todo, block, free }) => {
    await block();
    const waiting = await startWaiting();
    try {
      for (const one of waiting) {
        await one.waitForLine(new RegExp(`◷ waiting: ${why}`));
        await one.waitForLine(new RegExp(`→ .*${todo}`));
      }
    } finally {
      await free();
    }
    for (const { exited } of waiting) expect(await exited).toMatchObject({ code: 0 });
  });
});

describe('the confirmation callback of a client', () => {
  test('is asked about a held call, and its answer counts as a vote of the key', async () => {
    const { url } = system;
    const asked: string[] = [];
    const client = createClient({
      url,
      key: ADMIN_KEY,
      confirm: ({ tool_id, reason, inputs }) => {
        asked.push(`${tool_id} ${reason} ${JSON.stringify(inputs)}`);
        return inputs.a === 9 ? { approve: false, comment: 'not nine' } : true;
      },
    });
    expect(await client.call(SUBTRACT, { a: 3, b: 1 })).toEqual({ result: 2 });
    expect(asked).toEqual([`${SUBTRACT} differences need a person {"a":3,"b":1}`]);
    await expect(client.call(SUBTRACT, { a: 9, b: 1 })).rejects.toBeInstanceOf(Denied);
    await expect(client.call(SUBTRACT, { a: 3, b: 1 }, { confirm: () => undefined })).rejects.toBeInstanceOf(Held);
    expect(asked).toHaveLength(2);
    await client.close();
  });

  test('with a key that may not decide cannot approve a call, but can withdraw it', async () => {
    const { admin, url } = system;
    const { key } = await admin.keys.create({ tenant: 'default', actor: 'agent', roles: ['submit'] });
    const client = createClient({ url, key });
    const error = await client
      .call(SUBTRACT, { a: 3, b: 1 }, { confirm: () => true })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Held);
    expect(error).toMatchObject({ detail: expect.stringContaining('this key may not release it') });
    const back = await client
      .call(SUBTRACT, { a: 3, b: 1 }, { confirm: () => false })
      .catch((thrown: unknown) => thrown);
    expect(back).not.toBeInstanceOf(Held);
    await client.close();
  });
});

/** Has to be the last test: it stops the worker. */
test('a call that no worker serves says so', async () => {
  const { admin, worker } = system;
  await worker.stop();
  const { invocation_id } = await admin.submit({ tool_id: ADD, inputs: { a: 1, b: 1 } });
  expect((await admin.get(invocation_id)).waiting).toMatchObject({
    cause: 'no_worker',
    detail: 'no worker serves builtin',
    suggestion: 'Start one: capstan worker --runner builtin.',
  });
  for (const one of await startWaiting()) {
    await one.waitForLine(/◷ waiting: no worker serves builtin/);
    await one.waitForLine(/→ Start one: capstan worker --runner builtin\./);
  }
});
