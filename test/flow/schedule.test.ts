import { beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../fixtures/eventually.js';
import { hardestQueue } from '../fixtures/queues.js';
import { type System, startSystem } from './start-system.js';

const ADD = { tool_id: 'cap:test_math:add', inputs: { a: 1, b: 2 } };
const PLAN = { name: 'nightly', steps: [{ tool: 'cap:test_math:add', args: { a: 1, b: 2 } }] };
const YEARLY = '0 0 1 1 *';

describe.each(hardestQueue)('a schedule on the $name queue', (queue) => {
  let system: System;
  beforeAll(async () => {
    system = await startSystem(queue);
  });
  /** Makes a schedule look as if no coordinator had run for this many hours. */
  const age = async (schedule_id: string, hours: number) => {
    const past = new Date(Date.now() - hours * 3_600_000 + 60_000).toISOString();
    await system.store.db
      .updateTable('schedules')
      .set({ next_at: past, created_at: past })
      .where('schedule_id', '=', schedule_id)
      .execute();
  };
  /** Unpauses it without moving its next start to the future, which a resume by the API would do. */
  const resume = async (schedule_id: string) => {
    await system.store.db
      .updateTable('schedules')
      .set({ paused: false })
      .where('schedule_id', '=', schedule_id)
      .execute();
    // A new schedule makes the coordinator look at all of them; otherwise this would wait for its next sweep.
    await system.admin.schedules.create({ cron: YEARLY, ...ADD });
  };
  const fires = async (schedule_id: string) => (await system.admin.schedules.get(schedule_id)).last;

  test('starts its tool every time it is due', async () => {
    const { schedule_id, next } = await system.admin.schedules.create({ every_ms: 1000, ...ADD });
    expect(next.length).toBeGreaterThan(3);
    const gaps = next.slice(1).map((at, index) => Date.parse(at) - Date.parse(next[index] ?? ''));
    expect(new Set(gaps)).toEqual(new Set([1000]));
    const last = await eventually(async () => {
      const last = (await fires(schedule_id)).filter(({ outcome }) => outcome === 'started');
      return last.length >= 2 && last;
    });
    await system.admin.schedules.remove(schedule_id);
    const run_ids = last.map(({ run_id }) => run_id);
    expect(new Set(run_ids).size).toBe(run_ids.length);
    expect(await system.admin.runs.wait(run_ids[0] ?? '', { timeout_s: 60 })).toMatchObject({ status: 'completed' });
    await expect(system.admin.schedules.get(schedule_id)).rejects.toMatchObject({ status: 404 });
  });

  test('starts its plan', async () => {
    const { schedule_id } = await system.admin.schedules.create({
      cron: '*/1 * * * * *',
      time_zone: 'Asia/Kolkata',
      plan: PLAN,
    });
    const run_id = await eventually(async () => (await fires(schedule_id)).at(-1)?.run_id ?? false, {
      timeout_ms: 15_000,
    });
    await system.admin.schedules.remove(schedule_id);
    expect(await system.admin.runs.wait(run_id, { timeout_s: 60 })).toMatchObject({
      name: 'nightly',
      status: 'completed',
    });
  });

  test('catches up on one missed start after a downtime, or on as many as catch_up says', async () => {
    const hourly = { cron: '0 * * * *', ...ADD, paused: true } as const;
    const one = await system.admin.schedules.create(hourly);
    const three = await system.admin.schedules.create({ ...hourly, catch_up: 3, overlap: 'queue' });
    const none = await system.admin.schedules.create({ ...hourly, catch_up: 0 });
    for (const { schedule_id } of [one, three, none]) await age(schedule_id, 10);
    for (const { schedule_id } of [one, three, none]) await resume(schedule_id);
    await eventually(async () => {
      expect((await fires(one.schedule_id)).map(({ outcome }) => outcome)).toEqual(['started']);
      expect((await fires(three.schedule_id)).map(({ outcome }) => outcome)).toEqual(['started', 'started', 'started']);
      expect(Date.parse((await system.admin.schedules.get(none.schedule_id)).next_at ?? '')).toBeGreaterThan(
        Date.now() - 60_000,
      );
    });
    expect((await fires(none.schedule_id)).length).toBeLessThanOrEqual(1);
  });

  test('with overlap: cancel starts one run after a downtime, whatever catch_up says', async () => {
    await system.admin.queues.pause('builtin');
    const { schedule_id } = await system.admin.schedules.create({
      ...ADD,
      cron: '0 * * * *',
      paused: true,
      catch_up: 3,
      overlap: 'cancel',
    });
    await age(schedule_id, 10);
    await resume(schedule_id);
    const last = await eventually(async () => {
      const last = await fires(schedule_id);
      return last.length > 0 && last;
    });
    const place = expect.stringContaining('took its place');
    expect(last.map(({ outcome, detail }) => [outcome, detail])).toEqual([
      ['started', null],
      ['skipped', place],
      ['skipped', place],
    ]);
    const { items } = await system.admin.list({ label: `schedule:${schedule_id}` }).page();
    expect(items.map(({ run_id, status }) => [run_id, status])).toEqual([[last[0]?.run_id, 'queued']]);
    await system.admin.queues.resume('builtin');
    await system.admin.schedules.remove(schedule_id);
  });

  test.each([
    ['skip', ['skipped', 'started'], 'running'],
    ['cancel', ['started', 'started'], 'canceled'],
    ['queue', ['queued', 'started'], 'running'],
  ] as const)('that is due while its last run goes on obeys overlap: %s', async (overlap, outcomes, first) => {
    await system.admin.queues.pause('builtin');
    const { schedule_id } = await system.admin.schedules.create({ every_ms: 1000, overlap, plan: PLAN });
    await eventually(async () => (await fires(schedule_id)).length >= 2);
    await system.admin.schedules.change(schedule_id, { paused: true });
    const last = (await fires(schedule_id)).slice(-2);
    expect(last.map(({ outcome }) => outcome)).toEqual(outcomes);
    const old = last.at(-1)?.run_id ?? '';
    await eventually(async () => expect(await system.admin.runs.get(old)).toMatchObject({ status: first }));
    await system.admin.queues.resume('builtin');
    if (overlap !== 'queue') return;
    await system.admin.schedules.change(schedule_id, { cron: YEARLY, paused: false });
    await eventually(async () => expect((await fires(schedule_id)).at(-2)?.outcome).toBe('started'), {
      timeout_ms: 10_000,
    });
  });

  test('that is paused starts nothing, and does not catch up when resumed', async () => {
    const { schedule_id } = await system.admin.schedules.create({ cron: YEARLY, ...ADD });
    expect(await system.admin.schedules.change(schedule_id, { paused: true })).toMatchObject({
      paused: true,
      next: [],
    });
    await age(schedule_id, 5);
    const { next_at } = await system.admin.schedules.change(schedule_id, { paused: false });
    expect(Date.parse(next_at ?? '')).toBeGreaterThan(Date.now());
    expect(await fires(schedule_id)).toEqual([]);
  });

  test('is paused when its key is revoked, until somebody who may submit takes it over', async () => {
    const keyOf = (actor: string, role: 'submit' | 'operate') =>
      system.admin.keys.create({ tenant: 'default', actor, roles: [role] });
    const [sue, otto] = [await keyOf('sue', 'submit'), await keyOf('otto', 'operate')];
    const { schedule_id } = await system.clientFor(sue.key).schedules.create({ every_ms: 1000, ...ADD });
    await system.admin.keys.delete(sue.key_id);
    const rests = await system.admin.schedules.get(schedule_id);
    expect(rests).toMatchObject({ actor: 'sue', paused: true, paused_reason: expect.stringContaining('revoked') });
    const resume = { paused: false };
    await expect(system.clientFor(otto.key).schedules.change(schedule_id, resume)).rejects.toMatchObject({
      status: 403,
    });
    expect(await system.admin.schedules.change(schedule_id, resume)).toMatchObject({
      actor: 'admin',
      paused: false,
      paused_reason: null,
    });
    await eventually(async () => (await fires(schedule_id)).length > rests.last.length);
    await system.admin.schedules.remove(schedule_id);
  });

  test('that is invalid is refused with the reason', async () => {
    const { create } = system.admin.schedules;
    await expect(create({ cron: '61 * * * *', ...ADD })).rejects.toMatchObject({
      status: 400,
      detail: expect.stringContaining('cron'),
    });
    await expect(create({ cron: '0 0 30 2 *', ...ADD })).rejects.toMatchObject({
      detail: 'cron: this pattern never matches',
    });
    await expect(create({ cron: YEARLY, time_zone: 'Mars/Base', ...ADD })).rejects.toMatchObject({
      detail: expect.stringContaining('time_zone'),
    });
    await expect(create({ cron: YEARLY, every_ms: 1000, ...ADD })).rejects.toMatchObject({ status: 400 });
    await expect(create({ cron: YEARLY, tool_id: 'cap:test_math:ad', inputs: {} })).rejects.toMatchObject({
      status: 404,
    });
    await expect(create({ cron: YEARLY, plan: { steps: [] } })).rejects.toMatchObject({ status: 400 });
  });
});
