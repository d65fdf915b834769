import type {
  Artifact,
  Decision,
  InvocationStatus,
  Json,
  JsonObject,
  Role,
  RunFacts,
  RunnerType,
  SideEffect,
} from '@capstan/contracts';
import type { GeneratedAlways } from 'kysely';
import type { JsonText, NullableJsonText, NullableTimestamp, Timestamp } from '../columns.js';

export type InvocationTables = {
  invocations: InvocationTable;
  attempts: {
    invocation_id: string;
    attempt: number;
    worker_id: string;
    started_at: Timestamp;
    ended_at: Timestamp;
    outcome: string;
    error: string | null;
  };
  results: ResultTable;
};

type InvocationTable = {
  seq: GeneratedAlways<string>;
  invocation_id: string;
  tenant: string;
  actor: string;
  /** The roles that its key had at submission: policy decides by them again in the worker. */
  roles: Role[];
  run_id: string | null;
  tool_id: string;
  runner: RunnerType;
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
  /** Where counting towards max_attempts starts: a redrive gives the full number again. */
  first_attempt: number;
  webhook_url: string | null;
  labels: JsonText<Record<string, string>>;
  status: InvocationStatus;
  /** The number of the current attempt, and its fencing token: it only ever grows, and a claim takes the next one. */
  attempt: number;
  /** The worker of the last attempt. */
  worker_id: string | null;
  started_at: NullableTimestamp;
  /** A deferred start. */
  run_at: NullableTimestamp;
  /** A retry that waits for its backoff; null when ready. */
  available_at: NullableTimestamp;
  expires_at: NullableTimestamp;
  cancel_requested_at: NullableTimestamp;
  /** Whatever fails is tried again, after so long at first; null where only what may pass is. */
  retry_backoff_ms: number | null;
  /** Whether its end is to be told to a webhook; false once it was. */
  watched: boolean | null;
  /** The quotas that it comes under; null for most. */
  quota_scopes: string[] | null;
  created_at: Timestamp;
  finished_at: NullableTimestamp;
};

type ResultTable = {
  invocation_id: string;
  attempt: number;
  success: boolean;
  payload: JsonText<Json>;
  error: string | null;
  code: number | null;
  declared_side_effects: JsonText<SideEffect[]>;
  artifacts: JsonText<Artifact[]>;
  facts: NullableJsonText<RunFacts>;
  duration_ms: number;
  exit_code: number | null;
  truncated: boolean;
  input_hash: string;
  output_hash: string;
  chain_hash: string | null;
  removed_at: NullableTimestamp;
};
