import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { type System, startSystem } from './start-system.js';
import { stepsOf } from './steps-of.js';

const CAPSULE = new URL('../../../shared/corpora/capsule/', import.meta.url);
const hasCapsule = existsSync(CAPSULE);

describe.skipIf(!hasCapsule)("Capsule's own plans (skipped without the corpora)", () => {
  const read = (name: string) => readFileSync(new URL(name, CAPSULE), 'utf8');
  let system: System;
  beforeAll(async () => {
    system = await startSystem({ name: 'postgres' });
  });

  test('load unchanged', async () => {
    for (const name of readdirSync(new URL('plans/', CAPSULE)))
      expect(await system.admin.runs.dryRun({ plan: read(`plans/${name}`) })).toMatchObject({
        plan_hash: expect.any(String),
      });
  });

  test('run under their own policies', async () => {
    const policy = read('policies/workspace.yaml');
    const { run_id } = await system.admin.runs.submit({ plan: read('plans/create_notes.yaml'), policy });
    const done = await system.admin.runs.wait(run_id, { timeout_s: 60 });
    const steps = await stepsOf(system.admin, run_id);
    expect(steps.map(({ step_id, status, reason }) => [step_id, status, reason])).toEqual(
      ['note-1', 'note-2', 'note-3', 'verify'].map((id) => [id, 'succeeded', null]),
    );
    expect(done.status).toBe('completed');
  });

  test('stop at a step that their policies deny', async () => {
    const policy = read('policies/workspace.yaml');
    const { run_id } = await system.admin.runs.submit({ plan: read('plans/network_fetch.yaml'), policy });
    expect(await system.admin.runs.wait(run_id, { timeout_s: 60 })).toMatchObject({
      status: 'failed',
      denied_steps: 1,
      skipped_steps: 1,
    });
  });
});
