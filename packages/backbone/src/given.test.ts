import { expect, test } from 'vitest';
import { readGiven } from './given.js';

const common = {
  tenant: 'default',
  actor: 'ann',
  roles: ['submit'],
  run_id: null,
  tool_id: 'fs.read',
  runner: 'file',
  descriptor_hash: 'sha256:d',
  policy_hash: 'sha256:p',
  mode: 'execution',
  labels: {},
  spec_frozen: null,
  spec_hash: null,
  session_id: null,
  idempotent: true,
  priority: 0,
  timeout_ms: 1000,
  max_attempts: 1,
  watched: false,
  followed: false,
};
const receipt = { claim_id: 'clm_1', runner: 'file', owned: true };
const read = (message: object) => readGiven(JSON.stringify({ ...receipt, ...message }));

test('the calls of a receipt arrive with what they share', () => {
  const { calls } = read({
    common,
    calls: [['inv_1', { path: 'a' }, 'sha256:i', 'trace', 'added by a newer version']],
  });
  expect(calls).toMatchObject([
    { invocation_id: 'inv_1', inputs: { path: 'a' }, tenant: 'default', traceparent: 'trace' },
  ]);
});

test('a receipt may arrive without its calls', () => {
  expect(read({}).calls).toBeNull();
});

test.each([
  ['without a tenant', { common: { ...common, tenant: undefined }, calls: [] }],
  ['with a role that does not exist', { common: { ...common, roles: ['root'] }, calls: [] }],
  ['with inputs that are not an object', { common, calls: [['inv_1', 'a', 'sha256:i']] }],
])('a message %s is refused', (_, message) => {
  expect(() => read(message)).toThrow();
});
