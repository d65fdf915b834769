import type { Backbone } from '@capstan/backbone';
import type { JsonObject } from '@capstan/contracts';
import { hashJson } from '@capstan/integrity';
import type { Delivery } from '@capstan/queue';
import { insertInvocations, type NewInvocation } from '@capstan/store/invocation';
import { nanoid } from 'nanoid';

export type Work = Partial<
  Pick<
    NewInvocation,
    'runner' | 'priority' | 'tenant' | 'idempotent' | 'descriptor_hash' | 'policy_hash' | 'status' | 'quota_scopes'
  >
> & { inputs?: JsonObject };

export const manyOf = (count: number, work: Work = {}): Work[] => Array.from({ length: count }, () => work);

export interface CommittedWork {
  ids: string[];
  /** The receipts that were committed with the calls, in the form that a queue delivers. */
  deliveries: Delivery[];
  /** Tells workers or the queue, as a gateway does after its commit. A gateway that dies before never does. */
  tell(): void;
}

/** Commits a call for each piece of work as a gateway does, but does not yet tell workers or the queue. */
export async function commitWork({ store, dispatcher }: Backbone, pieces: Work[]): Promise<CommittedWork> {
  const rows = pieces.map(newInvocation);
  const { hand_over, signals, committed } = dispatcher.plan(rows);
  const { handed } = await insertInvocations(store, rows, { hand_over, signals });
  const priorityOf = (id: string | undefined) => rows.find((row) => row.invocation_id === id)?.priority ?? 0;
  return {
    ids: rows.map(({ invocation_id }) => invocation_id),
    deliveries: hand_over
      .filter(({ claim_id }) => handed.includes(claim_id))
      .map(({ claim_id, runner, ids }) => ({
        claim_id,
        runner,
        size: ids.length,
        priority: priorityOf(ids[0]),
        ahead: false,
      })),
    tell: () => committed(handed),
  };
}

/** Commits calls and hands them over. Returns their ids. */
export async function submitWork(backbone: Backbone, pieces: Work[]): Promise<string[]> {
  const { ids, tell } = await commitWork(backbone, pieces);
  tell();
  return ids;
}

/** Commits calls that wait in Postgres, even if workers have room for them. Returns their ids. */
export async function insertWaiting({ store, dispatcher }: Backbone, pieces: Work[]): Promise<string[]> {
  const rows = pieces.map(newInvocation);
  await insertInvocations(store, rows);
  dispatcher.wake([...new Set(rows.map(({ runner }) => runner))]);
  return rows.map(({ invocation_id }) => invocation_id);
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
