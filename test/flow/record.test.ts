import { text } from 'node:stream/consumers';
import { verifyBundle } from '@capstan/integrity';
import { beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../fixtures/eventually.js';
import { add, endedBulk } from './ended-bulk.js';
import { endedPlan } from './ended-plan.js';
import { ALLOW_ALL, type System, startSystem } from './start-system.js';
import { stepHashes } from './step-hashes.js';

let system: System;
beforeAll(async () => {
  system = await startSystem({ name: 'postgres' });
  await system.admin.policies.put('default', ALLOW_ALL);
});

describe('a run that has ended', () => {
  test('is added to the log, verifies, and its results have the hashes of their leaves', async () => {
    const run_id = await endedBulk(system, 1200);
    const newest = () => system.admin.list({ run_id, limit: 1 }).page();
    const chain_hash = await eventually(async () => (await newest()).items[0]?.result?.chain_hash ?? false);
    const verification = await system.admin.records.verify(run_id);
    expect(verification).toMatchObject({ ok: true, checked: 1201, mismatches: [], seal: null, superseded: [] });
    expect(verification.checkpoint?.origin).toMatch(/^capstan\/[0-9a-f-]{36}\/default$/);
    const proof = await system.admin.log.prove((await newest()).items[0]?.invocation_id ?? '');
    expect(proof.leaf_hash).toBe(chain_hash);
  });

  test('is added to the log at once if it is verified, also if it is a lone invocation', async () => {
    const { run_id } = await system.admin.submit(add(1), { wait_s: 30 });
    expect(await system.admin.records.verify(run_id)).toMatchObject({
      ok: true,
      checked: 1,
      checkpoint: { key: null },
    });
  });

  test('can be verified, but not before its end', async () => {
    const { run_id } = await system.admin.submit({ ...add(1), delay_ms: 600_000 });
    await expect(system.admin.records.verify(run_id)).rejects.toMatchObject({ code: 4001 });
  });
});

describe('a redrive', () => {
  test('adds another log entry, and the older one stays as superseded', async () => {
    const { run_id } = await system.admin.submitBulk([{ tool_id: 'shell.run', inputs: { cmd: ['false'] } }]);
    await eventually(async () => expect((await system.admin.runs.get(run_id)).finished_at).not.toBeNull());
    await system.admin.records.verify(run_id);
    const [one] = (await system.admin.list({ run_id }).page()).items;
    await system.admin.redrive(one?.invocation_id ?? '');
    await eventually(async () => {
      const again = await system.admin.records.verify(run_id);
      expect(again).toMatchObject({ ok: true, checked: 2 });
      expect(again.superseded.map(({ id, reason }) => `${id} ${reason}`).sort()).toEqual([
        `${one?.invocation_id} redriven`,
        `${run_id} its calls changed`,
      ]);
    });
  });
});

describe('a bundle', () => {
  test('is identical each time, can be verified without a server, and a changed field is named', async () => {
    const run_id = await endedPlan(system);
    const bundle = await text(await system.admin.records.bundle(run_id));
    expect(await text(await system.admin.records.bundle(run_id))).toBe(bundle);
    const lines = bundle.split('\n');
    expect(await verifyBundle(lines)).toMatchObject({ ok: true, run_id, mismatches: [] });
    const forged = bundle.replace('"payload":"{\\"result\\":3}"', '"payload":"{\\"result\\":4}"').split('\n');
    const verdict = await verifyBundle(forged);
    expect(verdict.ok).toBe(false);
    expect(verdict.mismatches.map(({ table, field }) => `${table}.${field}`)).toEqual(['results.payload']);
    await expect(verifyBundle(lines.slice(0, -2))).rejects.toThrow('cut off');
    await expect(system.admin.records.importBundle(forged.join('\n'))).rejects.toMatchObject({ code: 4004 });
  });

  test('can be replayed by another installation with equal hashes', async () => {
    const elsewhere = await startSystem({ name: 'postgres' });
    for (const run_id of [await endedPlan(system), await endedBulk(system, 300)]) {
      const bundle = await text(await system.admin.records.bundle(run_id));
      const { bundle_id } = await elsewhere.admin.records.importBundle(bundle);
      const replay = await elsewhere.admin.records.replayBundle(bundle_id);
      expect(await elsewhere.admin.runs.get(replay.run_id)).toMatchObject({ mode: 'replay', replay_of: run_id });
      expect(await stepHashes(elsewhere, replay.run_id)).toEqual(await stepHashes(system, run_id));
      expect(await elsewhere.admin.records.verify(replay.run_id)).toMatchObject({ ok: true, mismatches: [] });
    }
  });
});

describe('a report', () => {
  test('shows every step and the verification, as JSON, text and HTML', async () => {
    const run_id = await endedPlan(system);
    const report = await system.admin.records.report(run_id);
    expect(report).toMatchObject({
      report_version: '1.0',
      run: { run_id },
      plan: { name: 'sums' },
      verification: { ok: true },
    });
    expect(report.steps.map(({ step_id, status }) => `${step_id} ${status}`)).toEqual([
      'one succeeded',
      'many[0] succeeded',
      'many[1] succeeded',
      'never skipped',
    ]);
    expect(report.summary).toMatchObject({
      completed_steps: 3,
      skipped_steps: 1,
      attempts: 3,
      tools: { 'cap:test_math:add': 3 },
    });
    expect(await system.admin.records.reportText(run_id, 'text')).toMatch(
      /✓ +\+\d+ms +one[\s\S]*↷[\s\S]*Record: verified/,
    );
    const page = await system.admin.records.reportText(run_id, 'html');
    expect(page).toContain('The record verifies');
    expect(page).not.toMatch(/<script|src=|href="[^#]/);
  });
});
