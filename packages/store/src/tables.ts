import type {
  Artifact,
  Decision,
  Delivery,
  FileEncoding,
  Descriptor,
  InvocationStatus,
  Json,
  JsonObject,
  NewAgent,
  NewMcpServer,
  PolicyDocument,
  Role,
  RunFacts,
  RunnerType,
  SideEffect,
  ToolSource,
} from '@capstan/contracts';
import type { ColumnType, GeneratedAlways, JSONColumnType } from 'kysely';

/** Timestamps leave Postgres as RFC 3339 text (see open-store.ts), and are set by Postgres' clock. */
type Timestamp = ColumnType<string, string | undefined, string>;
type NullableTimestamp = ColumnType<string | null, string | null | undefined, string | null>;
type JsonText<T> = ColumnType<T, string, string>;

export type Tables = {
  keys: {
    key_id: string;
    key_hash: string;
    tenant: string;
    actor: string;
    roles: Role[];
    created_at: Timestamp;
  };
  policies: {
    name: string;
    version: number;
    policy_hash: string;
    document: JsonText<PolicyDocument>;
    created_by: string;
    created_at: Timestamp;
  };
  runs: {
    run_id: string;
    seq: GeneratedAlways<string>;
    tenant: string;
    actor: string;
    kind: 'bulk';
    total_steps: number;
    live_steps: number;
    completed_steps: ColumnType<number, number | undefined, number>;
    denied_steps: ColumnType<number, number | undefined, number>;
    failed_steps: ColumnType<number, number | undefined, number>;
    canceled_steps: ColumnType<number, number | undefined, number>;
    created_at: Timestamp;
    finished_at: NullableTimestamp;
  };
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
  logs: {
    invocation_id: string;
    attempt: number;
    seq: number;
    stream: 'stdout' | 'stderr';
    text: string;
    at: Timestamp;
  };
  outbox: { outbox_id: string; deliveries: JsonText<Delivery[]>; created_at: Timestamp };
  workers: {
    worker_id: string;
    runners: RunnerType[];
    host: string;
    pid: number;
    concurrency: number;
    started_at: Timestamp;
    seen_at: Timestamp;
    lease_until: Timestamp;
    draining: ColumnType<boolean, boolean | undefined, boolean>;
    stopped_at: NullableTimestamp;
  };
  queues: { runner: RunnerType; paused: boolean };
  agents: {
    agent_id: string;
    seq: GeneratedAlways<string>;
    tenant: string;
    definition: JsonText<NewAgent>;
    version: ColumnType<number, number | undefined, number>;
    created_by: string;
    created_at: Timestamp;
    updated_at: Timestamp;
  };
  sessions: {
    tenant: string;
    session_id: string;
    files: ColumnType<number, number | undefined, number>;
    size_bytes: ColumnType<string, number | undefined, number>;
    created_at: Timestamp;
    used_at: Timestamp;
  };
  session_files: {
    tenant: string;
    session_id: string;
    path: string;
    parent: string;
    is_directory: boolean;
    is_readonly: ColumnType<boolean, boolean | undefined, boolean>;
    content: Buffer | null;
    encoding: ColumnType<FileEncoding, FileEncoding | undefined, FileEncoding>;
    size_bytes: ColumnType<number, number | undefined, number>;
    created_at: Timestamp;
    updated_at: Timestamp;
  };
  scratchpad: {
    tenant: string;
    session_id: string;
    section: string;
    seq: GeneratedAlways<string>;
    content: Buffer;
    updated_at: Timestamp;
  };
  mcp_servers: {
    name: string;
    config: JsonText<NewMcpServer>;
    enabled: boolean;
    version: ColumnType<number, number | undefined, number>;
    stale: ColumnType<boolean, boolean | undefined, boolean>;
    tools: ColumnType<number, number | undefined, number>;
    failures: ColumnType<number, number | undefined, number>;
    error: string | null;
    attempted_at: NullableTimestamp;
    discovered_at: NullableTimestamp;
    created_by: string;
    created_at: Timestamp;
    updated_at: Timestamp;
  };
  tools: {
    tool_id: string;
    source: ToolSource;
    origin: string;
    descriptor: JsonText<Descriptor>;
    descriptor_hash: string;
    enabled: boolean;
    updated_at: Timestamp;
  };
  extensions: {
    extension_id: string;
    manifest: JsonText<JsonObject>;
    commands: JsonText<JsonObject>;
    usage: string | null;
    /** The set of files in extension_files that are its own executables. */
    tools_hash: string | null;
    enabled: boolean;
    installed_by: string;
    created_at: Timestamp;
    updated_at: Timestamp;
  };
  extension_files: { tools_hash: string; name: string; sha256: string; content: Buffer };
  atip_documents: {
    name: string;
    document: JsonText<JsonObject>;
    document_hash: string;
    installed_by: string;
    created_at: Timestamp;
    updated_at: Timestamp;
  };
  audit: {
    seq: GeneratedAlways<string>;
    at: Timestamp;
    tenant: string;
    actor: string;
    event: string;
    subject: string;
    detail: JSONColumnType<JsonObject>;
  };
};

export type InvocationTable = {
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
  created_at: Timestamp;
  finished_at: NullableTimestamp;
};

export type ResultTable = {
  invocation_id: string;
  attempt: number;
  success: boolean;
  payload: JsonText<Json>;
  error: string | null;
  code: number | null;
  declared_side_effects: JsonText<SideEffect[]>;
  artifacts: JsonText<Artifact[]>;
  facts: ColumnType<RunFacts | null, string | null, string | null>;
  duration_ms: number;
  exit_code: number | null;
  truncated: boolean;
  input_hash: string;
  output_hash: string;
  chain_hash: string | null;
};
