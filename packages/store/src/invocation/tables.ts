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
 * it has ended. A transition deletes it from one and inserts it into the next in one statement; the first to delete it wins.
 */
export type InvocationTables = {
  invocations: InvocationTable;
  work: WorkTable;
  claims: ClaimTable;
  results: ResultTable;
  ends_to_tell: { invocation_id: string };
  invocation_states: InvocationStateView;
  checkpoints: {
    invocation_id: string;
    state: JsonText<Json>;
    repeatable: boolean;
    created_at: Timestamp;
    /** How often, and when next, to check on work that continues elsewhere; null if there is none. */
    look_ms: number | null;
    look_at: NullableTimestamp;
  };
  /** Attempts that did not end the invocation. The last one is stored with the result. */
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

/** The request and its decision. Written once; inputs can be edited while it is held. */
type InvocationTable = {
  seq: GeneratedAlways<string>;
  invocation_id: string;
  tenant: string;
  actor: string;
  /** The roles of its key at submission. The worker's policy decision uses them again. */
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
  /** If set, any failure is retried, and this is the first backoff; otherwise only transient failures are. */
  retry_backoff_ms: number | null;
  /** Whether its end is reported to a webhook. */
  watched: boolean | null;
  /** The quotas that apply to it; null for most. */
  quota_scopes: string[] | null;
  /** Its first status; null for invocations submitted before this column existed. */
  admitted: Extract<InvocationStatus, 'denied' | 'held' | 'deferred' | 'queued'> | null;
  /** The span that submitted it; null if tracing is off. */
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
  /** Null, like everything below, if nothing ran or the outcome is unknown. */
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

/** The current state of every invocation, for readers. */
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
