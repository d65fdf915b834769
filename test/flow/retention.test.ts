import { text } from 'node:stream/consumers';
import { parseCheckpoint, tilePath, verifyBundle } from '@capstan/integrity';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../fixtures/eventually.js';
import { add } from './ended-bulk.js';
import { PLAN } from './ended-plan.js';
import { ALLOW_ALL, type System, startSystem } from './start-system.js';

let system: System;
beforeAll(async () => {
  system = await startSystem({ name: 'postgres' });
  await system.admin.policies.put('default', ALLOW_ALL);
});

describe('retention', () => {
  test('removes results by tenant and status while the record still verifies, and later the whole run', async () => {
    const MOMENT = 1e-7;
    const { key } = await system.admin.keys.create({ tenant: 'brief', actor: 'bea', roles: ['submit', 'admin'] });
    const bea = system.clientFor(key);
    const other = await system.admin.submit(add(1), { wait_s: 30 });
    const failing = { id: 'fails', tool: 'shell.run', args: { cmd: ['false'] }, needs: [], on_error: 'continue' };
    const { run_id } = await bea.runs.submit({ plan: { ...PLAN, steps: [...PLAN.steps, failing] } });
    await bea.runs.wait(run_id, { timeout_s: 60 });
    const before = await bea.records.verify(run_id);
    const { log_index, leaf_hash } = await bea.log.prove(run_id);
    await expect(bea.retentions.set('brief', { results_days: MOMENT })).rejects.toMatchObject({ status: 403 });
    await system.admin.retentions.set('brief', { results_days: MOMENT, by_status: { failed: { results_days: null } } });
    const verification = await eventually(async () => {
      const now = await bea.records.verify(run_id);
      return now.removed.length > 0 && now;
    });
    expect(verification).toMatchObject({ ok: true, mismatches: [], checkpoint: before.checkpoint });
    const steps = (await bea.runs.steps(run_id).page()).items.filter(({ invocation_id }) => invocation_id !== null);
    const succeeded = steps.filter(({ status }) => status === 'succeeded').map(({ invocation_id }) => invocation_id);
    expect(verification.removed.map(({ row }) => row).sort()).toEqual(succeeded.sort());
    const call = await bea.get(succeeded[0] ?? '');
    expect(call.result).toMatchObject({ success: true, payload: null, removed_at: expect.any(String) });
    expect((await system.admin.get(other.invocation_id)).result?.payload).toEqual({ result: 2 });
    expect(await verifyBundle((await text(await bea.records.bundle(run_id))).split('\n'))).toMatchObject({ ok: true });
    expect(await bea.records.reportText(run_id, 'text')).toContain('results removed by retention: 3');
    // Removed results are listed as removed; changed ones are still mismatches.
    await sql`UPDATE results SET duration_ms = 1 WHERE invocation_id = ${succeeded[0]}`.execute(system.store.db);
    expect((await bea.records.verify(run_id)).mismatches).toMatchObject([{ row: succeeded[0], field: 'duration_ms' }]);

    await system.admin.retentions.set('brief', { records_days: MOMENT });
    await eventually(() => expect(bea.runs.get(run_id)).rejects.toMatchObject({ status: 404 }));
    const { rows } = await sql`SELECT detail FROM audit WHERE event = 'retention.run' AND subject = ${run_id}`.execute(
      system.store.db,
    );
    expect(rows).toMatchObject([{ detail: { log_index, leaf_hash } }]);
    // The records are gone, but their leaves stay in the log.
    const { size } = parseCheckpoint(await bea.log.checkpoint());
    expect(await bea.log.tile(tilePath({ level: 0, index: 0, width: size }))).toHaveLength(size * 32);
    await system.admin.retentions.remove('brief');
    await expect(system.admin.retentions.get('brief')).rejects.toMatchObject({ status: 404 });
  });
});
