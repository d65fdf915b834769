import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { defaultRange, openToolUsers, reservedUser } from './tool-users.js';

const directory = mkdtempSync(join(tmpdir(), 'tool-users-'));
afterAll(() => rmSync(directory, { recursive: true }));

const range = { first: 5000, last: 5010 };

test('each tenant has its own user, the same in every worker and after a restart', () => {
  const tenants = Array.from({ length: 10 }, (_, index) => `tenant ${index}`);
  const users = openToolUsers(join(directory, 'a'), range);
  const ids = tenants.map((tenant) => users.of(tenant)?.uid);
  expect(new Set(ids).size).toBe(10);
  const others = openToolUsers(join(directory, 'a'), range);
  expect([...tenants].reverse().map((tenant) => others.of(tenant)?.uid)).toEqual(ids.reverse());
});

test('a tenant is refused when all users are taken, and the error names the setting to widen', () => {
  const users = openToolUsers(join(directory, 'a'), range);
  expect(() => users.of('one too many')).toThrow(/CAPSTAN_TOOL_UIDS/);
});

test('the user reserved for browsers is never assigned to a tenant', () => {
  const ids = Array.from({ length: 10 }, (_, index) => openToolUsers(join(directory, 'b'), range).of(`${index}`)?.uid);
  expect(ids).not.toContain(reservedUser(range)?.uid);
});

test('in a user namespace with few ids the default range is within them', () => {
  expect(defaultRange('         0          0 4294967295\n').first).toBe(1_900_000_000);
  expect(defaultRange('         0     100000      65536\n')).toEqual({ first: 40_000, last: 59_999 });
  // A system without user namespaces.
  expect(defaultRange(null).first).toBe(1_900_000_000);
});
