import { expect, test } from 'vitest';
import type { NewInvocation } from './insert-invocations.js';
import { isAlike } from './is-alike.js';

const decision = {
  effect: 'allow',
  allowed: true,
  reason: 'allowed by r',
  rule_matched: 'r',
  code: null,
  limits: { timeout_ms: 1000, max_output_bytes: 1000 },
  decided_by: 'tenant',
  policy_hash: 'p',
} as const;

/** Every column, so that one that is added has to be added here as well. */
const ROW: Required<NewInvocation> = {
  invocation_id: 'inv_1',
  tenant: 't',
  actor: 'a',
  roles: ['submit'],
  run_id: null,
  tool_id: 'tool',
  runner: 'builtin',
  inputs: { a: 1 },
  input_hash: 'h',
  descriptor_hash: 'd',
  policy_hash: 'p',
  decision,
  mode: 'execution',
  session_id: null,
  idempotency_key: null,
  idempotent: true,
  spec_frozen: null,
  spec_hash: null,
  priority: 0,
  timeout_ms: 1000,
  max_attempts: 3,
  webhook_url: null,
  labels: {},
  status: 'queued',
  run_at: null,
  delay_ms: null,
  expires_in_ms: null,
  retry_backoff_ms: null,
  watched: undefined,
  quota_scopes: undefined,
  cost_units: undefined,
  traceparent: undefined,
};
const OWN = ['invocation_id', 'inputs', 'input_hash', 'idempotency_key', 'traceparent'];
const SHARED = Object.keys(ROW).filter((column) => !OWN.includes(column));

test('two calls are alike if they differ only in id, inputs, idempotency key and span', () => {
  const other = { ...ROW, invocation_id: 'inv_2', inputs: {}, input_hash: 'i', idempotency_key: 'k', traceparent: 's' };
  expect(isAlike(ROW, { ...other, labels: {} })).toBe(true);
});

test.each(SHARED)('two calls with a different %s are not alike', (column) => {
  expect(isAlike(ROW, { ...ROW, [column]: { another: 'value' } })).toBe(false);
});

test('two calls are not alike if one has labels and the other has none', () => {
  expect(isAlike(ROW, { ...ROW, labels: { team: 'x' } })).toBe(false);
});
