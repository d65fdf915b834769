import type { Delivery, JsonObject } from '@capstan/contracts';
import { hashJson } from '@capstan/integrity';
import { insertInvocations, type NewInvocation, type Store } from '@capstan/store';
import { nanoid } from 'nanoid';

export type Work = Partial<Pick<NewInvocation, 'runner' | 'priority'>> & { inputs?: JsonObject };

/** Commits an invocation for each piece of work, and gives what is to be enqueued. */
export async function insertWork(store: Store, pieces: Work[]): Promise<Delivery[]> {
  const rows = pieces.map(newInvocation);
  await insertInvocations(store, rows);
  return rows.map(({ invocation_id, runner, priority }) => ({ invocation_id, runner, attempt: 0, priority }));
}

const HASH = hashJson(null);

const newInvocation = (work: Work): NewInvocation => ({
  invocation_id: `inv_${nanoid()}`,
  tenant: 'default',
  actor: 'conformance',
  roles: ['submit'],
  run_id: null,
  tool_id: 'cap:test_math:add',
  runner: 'exec',
  inputs: {},
  input_hash: HASH,
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
  ...work,
});
