import type { Run } from '@capstan/contracts';
import { expect, test } from 'vitest';
import { ADD, add, onPlans } from './on-plans.js';

onPlans((plans) => {
  test('of another tenant can be neither seen nor canceled', async () => {
    const { run_id } = await plans.run({ steps: [add(1)] });
    const { key } = await plans.system.admin.keys.create({
      tenant: 'other',
      actor: 'olga',
      roles: ['submit', 'operate'],
    });
    const other = plans.system.clientFor(key);
    for (const ask of [
      () => other.runs.get(run_id),
      () => other.runs.steps(run_id).page(),
      () => other.runs.cancel(run_id),
    ])
      await expect(ask()).rejects.toMatchObject({ status: 404 });
    const { items } = await other.runs.list({ kind: 'plan' }).page();
    expect(items).toEqual([]);
  });

  test('is found by its kind, status and name', async () => {
    const { run_id } = await plans.run({ name: 'to be found', steps: [add(1)] });
    const found = async (query: object) =>
      (await plans.system.admin.runs.list(query).page()).items.map((one: Run) => one.run_id);
    expect(await found({ kind: 'plan', name: 'to be found' })).toEqual([run_id]);
    expect(await found({ name: 'to be found', status: ['failed', 'completed'] })).toEqual([run_id]);
    expect(await found({ name: 'to be found', status: 'failed' })).toEqual([]);
  });

  test('that is invalid is refused with the place and a suggestion', async () => {
    const plan = 'version: "1.0"\nsteps:\n  - id: one\n    tool: cap:test_math:ad\n    args: {}\n';
    await expect(plans.system.admin.runs.submit({ plan })).rejects.toMatchObject({
      status: 400,
      detail: expect.stringContaining('line 4, column 11'),
      suggestion: expect.stringContaining('cap:test_math:add'),
    });
    await expect(
      plans.system.admin.runs.submit({ plan: { inputs: { n: { type: 'integer' } }, steps: [add(1)] } }),
    ).rejects.toMatchObject({
      status: 422,
      detail: 'inputs.n is missing',
    });
  });

  test.runIf(plans.queue.name === 'postgres')('of 1,000 steps is parsed without blocking others', async () => {
    const lines = Array.from({ length: 1000 }, (_, n) => `  - ${JSON.stringify(add(`\${{ ${n} + 1 }}`))}`);
    const plan = [
      'steps:',
      ...lines,
      '  - { tool: cap:test_math:ad }',
      '  - { tool: cap:test_math:add, args: { a: x, b: 1 } }',
    ].join('\n');
    let answered = 0;
    const refused = plans.system.admin.runs.submit({ plan }).catch((error: unknown) => error);
    const over = refused.then(() => true);
    while (
      !(await Promise.race([
        over,
        plans.system.admin.runs
          .list({ kind: 'plan', limit: 1 })
          .page()
          .then(() => false),
      ]))
    )
      answered += 1;
    expect(await refused).toMatchObject({
      detail: expect.stringContaining('line 1002, column 13'),
      suggestion: expect.stringContaining('cap:test_math:add'),
      problem: { errors: [{ line: 1002 }, { field: 'steps.1001.args.a', line: 1003, column: 43 }] },
    });
    expect(answered).toBeGreaterThan(10);
  });

  test('in a dry run shows the decision on each step, and what is not known yet', async () => {
    const policy = {
      tools: { 'http.get': { allow_domains: ['example.com'] } },
      rules: [{ id: 'add', effect: 'allow', match: { tool: ADD } }],
    };
    const dry = await plans.system.admin.runs.dryRun({
      policy,
      plan: {
        steps: [
          { id: 'a', ...add(1) },
          { id: 'b', ...add('${{ steps.a.output.result }}') },
          { id: 'c', tool: 'http.get', args: { url: '${{ string(steps.a.output.result) }}' } },
          { id: 'd', tool: 'http.get', args: { url: 'https://example.org/' } },
        ],
      },
    });
    expect(dry.steps.map(({ step_id, effect }) => [step_id, effect])).toEqual([
      ['a', 'allow'],
      ['b', 'allow'],
      ['c', 'unknown'],
      ['d', 'deny'],
    ]);
    expect(dry.steps[1]).toMatchObject({
      inputs: { a: '${{ steps.a.output.result }}', b: 1 },
      unknown: ['steps.a.output.result'],
    });
  });
});
