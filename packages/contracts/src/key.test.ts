import { expect, test } from 'vitest';
import { hasRole, NewKey, type Principal, type Role } from './key.js';

const principal = (...roles: Role[]): Principal => ({ key_id: 'key_1', tenant: 'default', actor: 'ann', roles });

test('a key has its own roles, and an admin has all of them', () => {
  expect(hasRole(principal('submit'), 'submit')).toBe(true);
  expect(hasRole(principal('submit'), 'operate')).toBe(false);
  expect(hasRole(principal('submit', 'audit'), 'operate', 'audit')).toBe(true);
  expect(hasRole(principal('admin'), 'operate')).toBe(true);
  expect(hasRole(principal(), 'submit')).toBe(false);
});

test.each([
  { tenant: '', actor: 'ann', roles: ['submit'] },
  { tenant: '../etc', actor: 'ann', roles: ['submit'] },
  { tenant: 'a b', actor: 'ann', roles: ['submit'] },
  { tenant: 'acme\n', actor: 'ann', roles: ['submit'] },
  { tenant: 'acme', actor: 'ann', roles: [] },
  { tenant: 'acme', actor: 'ann', roles: ['root'] },
  { tenant: 'acme', actor: 'ann', roles: ['submit'], secret: 'mine' },
])('the new key %o is refused', (key) => {
  expect(NewKey.safeParse(key).success).toBe(false);
});
