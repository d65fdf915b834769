import type {
  Approvals,
  Artifact,
  Decision,
  Delivery,
  Descriptor,
  EventType,
  FileEncoding,
  HoldEntry,
  HoldStatus,
  InvocationStatus,
  Json,
  JsonObject,
  NewAgent,
  NewMcpServer,
  NewRetention,
  Overlap,
  PolicyDocument,
  QuotaLimits,
  Risk,
  Role,
  RunFacts,
  RunnerType,
  RunStatus,
  ScheduleFire,
  SideEffect,
  StepStatus,
  ToolSource,
  WebhookKind,
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
    kind: 'bulk' | 'plan';
    /** Of a plan; that of a bulk is told by its counts. */
    status: RunStatus | null;
    name: string | null;
    plan_hash: string | null;
    policy_hash: string | null;
    reason: string | null;
    mode: ColumnType<'execution' | 'replay', 'execution' | 'replay' | undefined, 'execution' | 'replay'>;
    replay_of: ColumnType<string | null, string | null | undefined, string | null>;
    sealed: ColumnType<boolean, boolean | undefined, boolean>;
    skipped_steps: ColumnType<number, number | undefined, number>;
    total_steps: number;
    live_steps: number;
    completed_steps: ColumnType<number, number | undefined, number>;
    denied_steps: ColumnType<number, number | undefined, number>;
    failed_steps: ColumnType<number, number | undefined, number>;
    canceled_steps: ColumnType<number, number | undefined, number>;
    created_at: Timestamp;
    finished_at: NullableTimestamp;
  };
  plan_runs: PlanRunTable;
  descriptors: { descriptor_hash: string; descriptor: JsonText<unknown>; seen_at: Timestamp };
  seals: SealTable;
  seal_links: {
    run_id: string;
    place: number;
    kind: 'run' | 'step' | 'invocation';
    id: string;
    record_hash: string;
    chain_hash: string;
    digests: JsonText<Record<string, string[]>>;
  };
  seal_cursors: { tenant: string; seq: string };
  seal_pending: { invocation_id: string; due_at: Timestamp };
  bundles: {
    bundle_id: string;
    tenant: string;
    run_id: string;
    kind: string;
    count: number;
    seal_hash: string;
    imported_by: string;
    created_at: Timestamp;
  };
  bundle_lines: { bundle_id: string; number: number; line: string };
  audit_links: { seq: string; tenant: string; place: string; chain_hash: string };
  audit_cursor: { only_one: boolean; low: string; next_low: string; next_at: Timestamp };
  holds: HoldTable;
  hold_entries: HoldEntryTable;
  grants: GrantTable;
  steps: StepTable;
  schedules: ScheduleTable;
  schedule_fires: {
    schedule_id: string;
    fire_at: Timestamp;
    outcome: ScheduleFire['outcome'];
    run_id: string | null;
    detail: string | null;
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
  retentions: {
    tenant: string;
    settings: JsonText<NewRetention>;
    updated_by: string;
    created_at: Timestamp;
    updated_at: Timestamp;
  };
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
  artifacts: {
    sha256: string;
    size: ColumnType<string, number, never>;
    place: 'postgres' | 'disk' | 's3';
    content: Buffer | null;
    used_at: Timestamp;
  };
  artifact_names: { invocation_id: string; sha256: string; name: string; media_type: string; tenant: string };
  secrets: SecretTable;
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
    marked_at: NullableTimestamp;
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
  events: {
    event_id: string;
    tenant: string;
    type: EventType;
    subject: string;
    data: JsonText<JsonObject>;
    url: string | null;
    at: Timestamp;
    fanned_out: ColumnType<boolean, boolean | undefined, boolean>;
  };
  webhooks: WebhookTable;
  webhook_secrets: { tenant: string; key_id: string; sealed: Buffer; created_at: Timestamp };
  webhook_deliveries: WebhookDeliveryTable;
  quotas: {
    scope: string;
    limits: JsonText<QuotaLimits>;
    on_exceed: 'defer' | 'deny';
    updated_by: string;
    created_at: Timestamp;
    updated_at: Timestamp;
  };
  quota_uses: { scope: string; taken_at: Timestamp; invocation_id: string; cost_units: number };
  quota_warnings: { scope: string; limit_name: string; window_start: Timestamp };
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

/** The value is sealed before it comes here (see secret/secret-keys.ts). */
export type SecretTable = {
  tenant: string;
  name: string;
  key_id: string;
  sealed: Buffer;
  tools: string[] | null;
  hosts: string[] | null;
  updated_by: string;
  created_at: Timestamp;
  updated_at: Timestamp;
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
  /** Whatever fails is tried again, after so long at first; null where only what may pass is. */
  retry_backoff_ms: number | null;
  /** Whether its end is to be told to a webhook; false once it was. */
  watched: boolean | null;
  /** The quotas that it comes under; null for most. */
  quota_scopes: string[] | null;
  created_at: Timestamp;
  finished_at: NullableTimestamp;
};

/** A pending one is changed while the row of its invocation is locked. */
export type HoldTable = {
  hold_id: string;
  seq: GeneratedAlways<string>;
  invocation_id: string;
  tenant: string;
  actor: string;
  tool_id: string;
  status: HoldStatus;
  round: number;
  approvals: ColumnType<Approvals | null, string | null, string | null>;
  returned_because: string | null;
  original_inputs: ColumnType<JsonObject | null, string | null, string | null>;
  original_input_hash: string | null;
  approved_input_hash: string | null;
  approved_descriptor_hash: string | null;
  approved_policy_hash: string | null;
  approval_expires_at: NullableTimestamp;
  used_at: NullableTimestamp;
  spent: ColumnType<boolean, boolean | undefined, boolean>;
  expires_in_ms: ColumnType<string, number, number>;
  created_at: Timestamp;
  expires_at: Timestamp;
  warn_at: NullableTimestamp;
  announced_round: ColumnType<number, number | undefined, number>;
  decided_at: NullableTimestamp;
  decided_by: string | null;
};

export type HoldEntryTable = {
  hold_id: string;
  seq: GeneratedAlways<string>;
  at: Timestamp;
  actor: string;
  kind: HoldEntry['kind'];
  round: number;
  comment: string | null;
  input_hash: string | null;
  descriptor_hash: string | null;
  policy_hash: string | null;
  previous_input_hash: string | null;
  changed: string[] | null;
  grant_id: string | null;
};

export type GrantTable = {
  grant_id: string;
  seq: GeneratedAlways<string>;
  tenant: string;
  actor: string;
  roles: Role[];
  kind: 'tool' | 'plan';
  tool_id: string | null;
  plan_hash: string | null;
  input_hash: string | null;
  max_risk: Risk | null;
  count: number | null;
  used: ColumnType<number, number | undefined, number>;
  applied: ColumnType<boolean, boolean | undefined, boolean>;
  comment: string | null;
  created_at: Timestamp;
  expires_at: Timestamp;
  revoked_at: NullableTimestamp;
};

export type WebhookTable = {
  webhook_id: string;
  seq: GeneratedAlways<string>;
  tenant: string;
  kind: WebhookKind;
  url: string;
  events: string[];
  key_id: string;
  sealed: Buffer;
  enabled: ColumnType<boolean, boolean | undefined, boolean>;
  disabled_reason: ColumnType<string | null, string | null | undefined, string | null>;
  created_by: string;
  created_at: Timestamp;
  updated_at: Timestamp;
};

export type WebhookDeliveryTable = {
  delivery_id: string;
  seq: GeneratedAlways<string>;
  tenant: string;
  event_id: string;
  webhook_id: string | null;
  target: string;
  state: 'pending' | 'delivered' | 'failed';
  attempts: number;
  next_at: Timestamp;
  retry_since: Timestamp;
  response_status: number | null;
  error: string | null;
  duration_ms: number | null;
  created_at: Timestamp;
  delivered_at: NullableTimestamp;
};

export type SealTable = {
  run_id: string;
  generation: number;
  tenant: string;
  root: string;
  count: number;
  first_id: string | null;
  last_id: string | null;
  plan_hash: string | null;
  policy_hash: string | null;
  sealed_at: Timestamp;
  seal_hash: string;
  signature: string | null;
  key_id: string | null;
  public_key: string | null;
  voided_at: NullableTimestamp;
  void_reason: string | null;
};

/** What the engine of plans keeps of a run, apart from what settlements count; whoever advances the run locks it. */
export type PlanRunTable = {
  run_id: string;
  tenant: string;
  actor: string;
  roles: Role[];
  plan: JsonText<JsonObject>;
  plan_hash: string;
  policy_hash: string;
  inputs: JsonText<JsonObject>;
  max_parallel: number | null;
  webhook_url: string | null;
  session_id: string | null;
  labels: JsonText<Record<string, string>>;
  active: ColumnType<boolean, boolean | undefined, boolean>;
  paused: ColumnType<boolean, boolean | undefined, boolean>;
  stopping: 'failed' | 'canceled' | null;
  dropped: ColumnType<boolean, boolean | undefined, boolean>;
  live: ColumnType<number, number | undefined, number>;
  unended: number;
  ended: ColumnType<number, number | undefined, number>;
  seq: ColumnType<number, number | undefined, number>;
  calls: JsonText<Record<string, number>>;
  created_at: Timestamp;
};

export type StepTable = {
  run_id: string;
  step: number;
  /** -1 for the step itself. */
  element: number;
  step_id: string;
  name: string | null;
  tool_id: string;
  status: Exclude<StepStatus, 'held' | 'deferred' | 'queued' | 'running'> | 'started';
  unmet: number;
  seq: number;
  item: JsonText<Json>;
  has_invocation: boolean;
  reason: string | null;
  elements: number | null;
  unended: number | null;
  unsuccessful: number | null;
  /** The run whose result it has, where that is another. */
  reused_from: string | null;
};

export type ScheduleTable = {
  schedule_id: string;
  seq: GeneratedAlways<string>;
  tenant: string;
  actor: string;
  key_id: string | null;
  name: string | null;
  cron: string | null;
  time_zone: string;
  every_ms: ColumnType<string | null, number | null, number | null>;
  submission: ColumnType<JsonObject | null, string | null, string | null>;
  tool_id: string | null;
  plan: ColumnType<JsonObject | null, string | null, string | null>;
  plan_hash: string | null;
  inputs: JsonText<JsonObject>;
  overlap: Overlap;
  catch_up: number;
  paused: boolean;
  paused_reason: string | null;
  next_at: NullableTimestamp;
  last_at: NullableTimestamp;
  last_run_id: string | null;
  last_error: string | null;
  created_at: Timestamp;
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
  removed_at: NullableTimestamp;
};
