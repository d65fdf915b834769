import { hashJson } from '@capstan/integrity';
import type { Claimed } from '@capstan/store/claim';

const HASH = hashJson(null);

/** A claim of the first of three attempts of an idempotent tool. */
export const newClaimed = (given: Partial<Claimed> = {}): Claimed => ({
  claim_id: 'clm_1',
  invocation_id: 'inv_1',
  attempt: 1,
  tenant: 'acme',
  actor: 'ann',
  roles: ['submit'],
  run_id: null,
  tool_id: 'cap:test_math:add',
  runner: 'builtin',
  inputs: { a: 1, b: 2 },
  input_hash: hashJson({ a: 1, b: 2 }),
  descriptor_hash: HASH,
  policy_hash: HASH,
  mode: 'execution',
  labels: {},
  spec_frozen: null,
  spec_hash: null,
  session_id: null,
  idempotent: true,
  priority: 0,
  timeout_ms: 1500,
  max_attempts: 3,
  first_attempt: 1,
  watched: false,
  followed: false,
  ...given,
});
