import { hashJson } from '@capstan/integrity';
import { queryIn } from '@capstan/store';
import { insertPlanRun } from '@capstan/store/plan';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { ADD, add, onPlans } from './on-plans.js';

onPlans((plans) => {
  test('of a thousand steps in layers finishes', async () => {
    const layers = 20;
    const width = 50;
    const id = (layer: number, at: number) => `s${layer}_${at % width}`;
    const steps = Array.from({ length: layers * width }, (_, place) => {
      const [layer, at] = [Math.floor(place / width), place % width];
      if (layer === 0) return { id: id(0, at), needs: [], ...add(at) };
      const before = id(layer - 1, at);
      return {
        id: id(layer, at),
        needs: [before, id(layer - 1, at + 1)],
        ...add(`\${{ steps.${before}.output.result }}`),
      };
    });
    const { done, outputs } = await plans.run({ steps });
    expect(done).toMatchObject({ status: 'completed', total_steps: 1000, completed_steps: 1000 });
    expect(outputs.at(-1)).toEqual({ result: 49 + layers });
  });

  test('with a fan-out over 1,100 elements calls the tool once for each', async () => {
    const { done, outputs } = await plans.run({
      steps: [{ id: 'each', for_each: Array.from({ length: 1100 }, (_, n) => n), ...add('${{ item }}') }],
    });
    expect(done).toMatchObject({ status: 'completed', total_steps: 1100, completed_steps: 1100 });
    expect(outputs).toEqual(Array.from({ length: 1100 }, (_, n) => ({ result: n + 1 })));
  });

  test('with many steps does not delay a small plan that the same search finds', async () => {
    const { run_id: known } = await plans.run({ steps: [add(1)] });
    const { db } = plans.system.store;
    const { roles, policy_hash } = await db
      .selectFrom('plan_runs')
      .select(['roles', 'policy_hash'])
      .where('run_id', '=', known)
      .executeTakeFirstOrThrow();
    const insert = (to: typeof db, run_id: string, count: number) => {
      const plan = { steps: Array.from({ length: count }, () => ({ needs: [], ...add(1) })) };
      const steps = plan.steps.map((_, n) => ({ step_id: `step_${n + 1}`, name: null, tool_id: ADD }));
      const kept = { plan, plan_hash: hashJson(plan), policy_hash, inputs: {}, max_parallel: null, webhook_url: null };
      return insertPlanRun(queryIn(to), {
        run_id,
        tenant: 'default',
        actor: 'admin',
        roles,
        name: null,
        ...kept,
        steps,
      });
    };
    const [large, small] = [`run_${'0'.repeat(21)}`, `run_${'1'.repeat(21)}`];
    // Inserted without a signal, so that one search finds both.
    await db.transaction().execute(async (both) => {
      await insert(both, large, 1200);
      await insert(both, small, 1);
    });
    for (const run_id of [large, small])
      expect(await plans.system.admin.runs.wait(run_id, { timeout_s: 60 })).toMatchObject({ status: 'completed' });
    const { rows } = await sql`SELECT max(created_at) FILTER (WHERE run_id = ${small})
      < max(created_at) FILTER (WHERE run_id = ${large}) AS before_its_last FROM invocations`.execute(db);
    expect(rows).toEqual([{ before_its_last: true }]);
  });

  test.runIf(plans.queue.name === 'postgres')('whose calls cannot be stored fails, and other plans go on', async () => {
    await sql`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no room for this'; END $$`.execute(
      plans.system.store.db,
    );
    await sql`CREATE TRIGGER refuse BEFORE INSERT ON invocations FOR EACH ROW WHEN (NEW.inputs ->> 'b' = '4711')
      EXECUTE FUNCTION refuse()`.execute(plans.system.store.db);
    // Enough steps that the first are refused while the last are still being prepared.
    const refused = await plans.run({ steps: Array.from({ length: 1000 }, () => ({ ...add(1, 4711), needs: [] })) });
    expect(refused.done).toMatchObject({ status: 'failed', reason: expect.stringContaining('no room for this') });
    expect((await plans.run({ steps: [add(1)] })).done).toMatchObject({ status: 'completed' });
  });
});
