import type {
  Artifact,
  Decision,
  InvocationStatus,
  Json,
  JsonObject,
  QueueName,
  Role,
  RunFacts,
  SideEffect,
  TerminalStatus,
} from '@capstan/contracts';
import type { ColumnType, Generated, GeneratedAlways } from 'kysely';
import type { JsonText, NullableJsonText, NullableTimestamp, Timestamp } from '../columns.js';

/**
 * An invocation is in exactly one place: `work` while it waits, a receipt in `claims` while a worker has it, `results` once
 * it has ended. A move deletes it from one and inserts it into the next in one statement; whoever deletes first moves it.
 */
export type InvocationTables = {
  invocations: InvocationTable;
  work: WorkTable;
  claims: ClaimTable;
  results: ResultTable;
  ends_to_tell: { invocation_id: string };
  invocation_states: InvocationStateView;
  checkpoints: { invocation_id: string; state: JsonText<Json>; repeatable: boolean; created_at: Timestamp };
  /** Attempts that did not end the invocation. The one that did stands with the result. */
  attempts: {
    invocation_id: string;
    attempt: number;
    worker_id: string;
    started_at: Timestamp;
    ended_at: Timestamp;
    outcome: string;
    error: string | null;
  };
};

/** What was asked and decided. Written once; people may edit it while it is held. */
type InvocationTable = {
  seq: GeneratedAlways<string>;
  invocation_id: string;
  tenant: string;
  actor: string;
  /** The roles that its key had at submission: policy decides by them again in the worker. */
  roles: Role[];
  run_id: string | null;
  tool_id: string;
  runner: QueueName;
  inputs: JsonText<JsonObject>;
  input_hash: string;
  descriptor_hash: string;
  policy_hash: string;
  decision: JsonText<Decision>;
  mode: 'execution' | 'planning';
  session_id: string | null;
  idempotency_key: string | null;
  /** Whether a lost attempt may be repeated without asking a person; from the descriptor at admission. */
  idempotent: boolean;
  spec_frozen: boolean | null;
  spec_hash: string | null;
  priority: number;
  timeout_ms: number;
  max_attempts: number;
  webhook_url: string | null;
  labels: JsonText<Record<string, string>>;
  /** A deferred start, as it was asked for. */
  run_at: NullableTimestamp;
  expires_at: NullableTimestamp;
  /** If set, any failure is retried, after so long at first; otherwise only what may pass by itself is. */
  retry_backoff_ms: number | null;
  /** Whether a webhook is told of its end. */
  watched: boolean | null;
  /** The quotas that it comes under; null for most. */
  quota_scopes: string[] | null;
  /** Where it went at first; null for what was submitted before this was kept. */
  admitted: Extract<InvocationStatus, 'denied' | 'held' | 'deferred' | 'queued'> | null;
  /** The span that submitted it; null where traces are not sent. */
  traceparent: string | null;
  created_at: Timestamp;
};

type WorkTable = {
  invocation_id: string;
  seq: string;
  tenant: string;
  runner: QueueName;
  priority: number;
  status: Extract<InvocationStatus, 'queued' | 'deferred' | 'held'>;
  /** Attempts made so far. A claim takes the next number, which is its fencing token. */
  attempt: Generated<number>;
  /** Where counting towards max_attempts starts: a redrive gives the full number again. */
  first_attempt: Generated<number>;
  /** Deferred until then; null while it waits for a quota. */
  run_at: NullableTimestamp;
  /** A retry that waits for its backoff; null when ready. */
  available_at: NullableTimestamp;
  expires_at: NullableTimestamp;
  quota_scopes: string[] | null;
};

type ClaimTable = {
  claim_id: string;
  runner: QueueName;
  worker_id: string | null;
  owned_at: NullableTimestamp;
  created_at: Timestamp;
  ids: string[];
  attempts: number[];
  first_attempts: number[];
  canceled: Generated<string[]>;
  under_quota: Generated<boolean>;
  expires_at: NullableTimestamp;
};

type ResultTable = {
  invocation_id: string;
  seq: GeneratedAlways<string>;
  status: TerminalStatus;
  attempt: number;
  first_attempt: Generated<number>;
  /** How the last attempt ended, where that says more than the status. */
  outcome: string | null;
  worker_id: string | null;
  started_at: NullableTimestamp;
  finished_at: Timestamp;
  /** Null, as all below, where nothing ran or nobody knows what came of it. */
  success: boolean | null;
  payload: NullableJsonText<Json>;
  error: string | null;
  code: number | null;
  declared_side_effects: NullableJsonText<SideEffect[]>;
  artifacts: NullableJsonText<Artifact[]>;
  facts: NullableJsonText<RunFacts>;
  duration_ms: number | null;
  exit_code: number | null;
  truncated: boolean | null;
  input_hash: string | null;
  output_hash: string | null;
  chain_hash: string | null;
  removed_at: NullableTimestamp;
};

type ReadOnly<T> = {
  [Column in keyof T]: T[Column] extends ColumnType<infer S, infer _I, infer _U>
    ? ColumnType<S, never, never>
    : ColumnType<T[Column], never, never>;
};

/** How every invocation stands, for whoever reads. */
type InvocationStateView = ReadOnly<
  Omit<InvocationTable, 'run_at' | 'expires_at' | 'admitted' | 'traceparent'> & {
    status: InvocationStatus;
    attempt: number;
    first_attempt: number;
    worker_id: string | null;
    started_at: string | null;
    run_at: string | null;
    available_at: string | null;
    expires_at: string | null;
    cancel_requested_at: string | null;
    finished_at: string | null;
  }
>;
