import { hashJson } from '@capstan/integrity';
import { nanoid } from 'nanoid';
import type { NewInvocation } from '../invocation/insert-invocations.js';

const HASH = hashJson(null);

/** An admitted invocation of an idempotent tool, queued; of a tenant that is not the default one. */
export const newInvocation = (given: Partial<NewInvocation> = {}): NewInvocation => ({
  invocation_id: `inv_${nanoid()}`,
  tenant: 'acme',
  actor: 'ann',
  roles: ['submit'],
  run_id: null,
  tool_id: 'cap:test_math:add',
  runner: 'exec',
  inputs: { a: 1 },
  input_hash: hashJson(given.inputs ?? { a: 1 }),
  descriptor_hash: HASH,
  policy_hash: HASH,
  decision: {
    effect: 'allow',
    allowed: true,
    reason: 'a rule allows it',
    rule_matched: 'any',
    code: null,
    limits: { timeout_ms: 1000, max_output_bytes: 1000 },
    policy_hash: HASH,
  },
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
  ...given,
});

export const manyInvocations = (count: number, given: Partial<NewInvocation> = {}): NewInvocation[] =>
  Array.from({ length: count }, () => newInvocation(given));
