export type Row = Readonly<Record<string, unknown>>;

/** The rows that one link of a seal covers, from one or several tables. */
export type Entry = {
  kind: 'run' | 'step' | 'invocation';
  id: string;
  tables: Readonly<Record<string, readonly Row[]>>;
};

/**
 * The columns of each table that are covered, in this order, because digests are identified by position. New columns are added at
 * the end, and null is left out of the hash, so that existing seals stay valid when a table gets new columns.
 */
export const RECORD_COLUMNS = {
  runs: [
    ...['run_id', 'tenant', 'actor', 'kind', 'status', 'name', 'plan_hash', 'policy_hash', 'reason', 'total_steps'],
    ...[
      'live_steps',
      'completed_steps',
      'denied_steps',
      'failed_steps',
      'canceled_steps',
      'skipped_steps',
      'created_at',
    ],
    ...['finished_at', 'mode', 'replay_of'],
  ],
  plan_runs: [
    ...[
      'run_id',
      'tenant',
      'actor',
      'roles',
      'plan',
      'plan_hash',
      'policy_hash',
      'inputs',
      'max_parallel',
      'webhook_url',
    ],
    ...['session_id', 'labels', 'active', 'paused', 'stopping', 'dropped', 'live', 'unended', 'ended', 'seq', 'calls'],
    ...['created_at'],
  ],
  steps: [
    ...['run_id', 'step', 'element', 'step_id', 'name', 'tool_id', 'status', 'unmet', 'seq', 'item', 'has_invocation'],
    ...['reason', 'elements', 'unended', 'unsuccessful', 'reused_from'],
  ],
  invocations: [
    ...['invocation_id', 'tenant', 'actor', 'roles', 'run_id', 'tool_id', 'runner', 'inputs', 'input_hash'],
    ...[
      'descriptor_hash',
      'policy_hash',
      'decision',
      'mode',
      'session_id',
      'idempotency_key',
      'idempotent',
      'spec_frozen',
    ],
    ...['spec_hash', 'priority', 'timeout_ms', 'max_attempts', 'first_attempt', 'webhook_url', 'labels', 'status'],
    ...[
      'attempt',
      'worker_id',
      'started_at',
      'run_at',
      'available_at',
      'expires_at',
      'cancel_requested_at',
      'created_at',
    ],
    ...['finished_at', 'retry_backoff_ms', 'quota_scopes'],
  ],
  attempts: ['invocation_id', 'attempt', 'worker_id', 'started_at', 'ended_at', 'outcome', 'error'],
  results: [
    ...['invocation_id', 'attempt', 'success', 'error', 'code', 'declared_side_effects', 'artifacts', 'facts'],
    ...['duration_ms', 'exit_code', 'truncated', 'input_hash', 'output_hash'],
  ],
  holds: [
    ...['hold_id', 'invocation_id', 'tenant', 'actor', 'tool_id', 'status', 'round', 'approvals', 'returned_because'],
    ...[
      'original_inputs',
      'original_input_hash',
      'approved_input_hash',
      'approved_descriptor_hash',
      'approved_policy_hash',
    ],
    ...['approval_expires_at', 'used_at', 'expires_in_ms', 'created_at', 'expires_at', 'decided_at', 'decided_by'],
    'spent',
  ],
  hold_entries: [
    ...['hold_id', 'at', 'actor', 'kind', 'round', 'comment', 'input_hash', 'descriptor_hash', 'policy_hash'],
    ...['previous_input_hash', 'changed', 'grant_id'],
  ],
} as const satisfies Record<string, readonly string[]>;

/**
 * Columns that are read with the record but not part of its hash. A payload is checked against `output_hash`, which is part of it,
 * so the record still verifies after retention has removed the payload.
 */
const BESIDE: Readonly<Record<string, readonly string[]>> = { results: ['payload', 'removed_at'] };

/** The columns that are not covered, and why. */
export const UNCOVERED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  runs: {
    seq: 'a counter of the installation; the record does not depend on it',
    sealed: 'only says that there is a seal; the audit shows if one is missing',
  },
  plan_runs: {
    own_policy: 'has no effect after the run has ended; policy_hash is covered',
    waiting: 'false once the run has ended; the outcomes of its steps are covered',
    step_ids: 'part of the plan, which is covered',
    step_names: 'part of the plan, which is covered',
    step_tools: 'part of the plan, which is covered',
  },
  invocations: {
    seq: 'only the resulting order matters, which the chain covers',
    watched: 'changes after the end, when webhooks are notified',
  },
  results: {
    chain_hash: 'created by the seal; checked against the link of the chain',
    payload: 'checked against output_hash, which is covered',
    removed_at: 'set by retention after the end',
  },
  holds: {
    seq: 'a counter of the installation',
    warn_at: 'changes as reminders are sent',
    announced_round: 'changes as reminders are sent',
  },
  hold_entries: {
    seq: 'only the resulting order matters, which the record covers',
    iss: 'permanently bound to the actor; the chained audit has it with the vote',
    sub: 'permanently bound to the actor; the chained audit has it with the vote',
  },
};

export type RecordTable = keyof typeof RECORD_COLUMNS;
const isRecordTable = (table: string): table is RecordTable => Object.hasOwn(RECORD_COLUMNS, table);
export const columnsOf = (table: string): readonly string[] => (isRecordTable(table) ? RECORD_COLUMNS[table] : []);

/** The covered columns, and those that are checked against them. */
export const readColumnsOf = (table: string): readonly string[] => [...columnsOf(table), ...(BESIDE[table] ?? [])];
