import { beforeAll, expect, test } from 'vitest';
import { refusalOf } from './refusal-of.js';
import { type System, startSystem } from './start-system.js';

let system: System;
beforeAll(async () => {
  system = await startSystem({ name: 'postgres' });
});

test('a grant for an unknown tool is refused, and the nearest tool is suggested', async () => {
  const refused = await refusalOf(system.admin.grants.create({ tool_id: 'cap:test_math:ad' }));
  expect(refused.problem).toMatchObject({
    status: 404,
    code: 2001,
    detail: 'There is no tool "cap:test_math:ad".',
    suggestion: expect.stringContaining('cap:test_math:add'),
  });
  const plan_hash = `sha256:${'0'.repeat(64)}`;
  const ofPlan = await refusalOf(system.admin.grants.create({ kind: 'plan', plan_hash, tool_id: 'no-such-tool' }));
  expect(ofPlan.problem).toMatchObject({ status: 404, code: 2001 });
  expect((await system.admin.grants.list().page()).items).toEqual([]);
});

test('a grant that names a tool by its alias is stored under the id of the tool', async () => {
  expect(await system.admin.grants.create({ tool_id: 'fs_read' })).toMatchObject({ tool_id: 'fs.read' });
});
