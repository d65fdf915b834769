import { expect, test } from 'vitest';
import { checkWalls, landlockCheck, seccompCheck, usersCheck } from './check-walls.js';

test('doctor names what is missing between tools and the rest of the machine, and how to get it', () => {
  for (const check of [seccompCheck(false), landlockCheck(0), usersCheck(false, () => '')])
    expect(check).toMatchObject({
      state: 'absent',
      found: expect.stringContaining('tools'),
      advice: expect.any(String),
    });
});

test('doctor tells what was in force when it was tried', async () => {
  const checks = await checkWalls({});
  expect(checks.map(({ name }) => name)).toEqual(['seccomp', 'Landlock', 'users']);
  expect(usersCheck(true, () => '40000-59999')).toMatchObject({ state: 'ok', found: expect.stringContaining('40000') });
});

test.runIf(process.platform === 'linux' && ['x64', 'arm64'].includes(process.arch))(
  'on Linux the filter of system calls works after an install alone',
  async () => {
    const [seccomp] = await checkWalls({});
    expect(seccomp).toMatchObject({ state: 'ok' });
  },
);
