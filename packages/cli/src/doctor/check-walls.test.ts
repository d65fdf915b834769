import { expect, test } from 'vitest';
import { checkWalls, landlockCheck, seccompCheck, usersCheck } from './check-walls.js';

test('doctor names each missing kernel protection and how to get it', () => {
  for (const check of [seccompCheck(false), landlockCheck(0), usersCheck(false, () => '')])
    expect(check).toMatchObject({
      state: 'absent',
      found: expect.stringContaining('tools'),
      advice: expect.any(String),
    });
});

test('doctor reports the protections that work on this machine', async () => {
  const checks = await checkWalls({});
  expect(checks.map(({ name }) => name)).toEqual(['seccomp', 'Landlock', 'users']);
  expect(usersCheck(true, () => '40000-59999')).toMatchObject({ state: 'ok', found: expect.stringContaining('40000') });
});

test.runIf(process.platform === 'linux' && ['x64', 'arm64'].includes(process.arch))(
  'on Linux the seccomp filter works right after installation',
  async () => {
    const [seccomp] = await checkWalls({});
    expect(seccomp).toMatchObject({ state: 'ok' });
  },
);

test('an old Landlock is named with what it does not cover', () => {
  expect(landlockCheck(5)).toMatchObject({ state: 'ok', found: expect.stringContaining('not signals') });
  expect(landlockCheck(6)).toMatchObject({ state: 'ok', found: 'version 6' });
});
