export type Row = Readonly<Record<string, unknown>>;

/** What one link of a seal covers: rows of one or several tables that belong together. */
export type Entry = {
  kind: 'run' | 'step' | 'invocation';
  id: string;
  tables: Readonly<Record<string, readonly Row[]>>;
};

/**
 * What is covered of each table, in this order: digests are told apart by their place. New columns go to the end, and what
 * is null is left out of the hash, so that a table that grows leaves old seals valid.
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
 * Read with the record and not part of its hash. A payload is held against `output_hash`, which is part of it: so the record
 * stays what was sealed when retention removes the payload.
 */
const BESIDE: Readonly<Record<string, readonly string[]>> = { results: ['payload', 'removed_at'] };

/** What is left out, and why. */
export const UNCOVERED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  runs: {
    seq: 'counts within one installation; nothing of the record depends on it',
    sealed: 'says that there is a seal; where there is none, the audit tells',
  },
  plan_runs: {
    own_policy: 'decides nothing once the run is over; policy_hash is covered',
    waiting: 'false once the run is over; what its steps came to is covered',
    step_ids: 'what the plan says, which is covered',
    step_names: 'what the plan says, which is covered',
    step_tools: 'what the plan says, which is covered',
  },
  invocations: {
    seq: 'only the order that it gives matters, and the chain holds that',
    watched: 'changes after the end, once a webhook was told',
  },
  results: {
    chain_hash: 'made by the seal; held against the link of the chain',
    payload: 'held against output_hash, which is covered',
    removed_at: 'set by retention, after the end',
  },
  holds: {
    seq: 'counts within one installation',
    warn_at: 'changes as reminders are sent',
    announced_round: 'changes as reminders are sent',
  },
  hold_entries: {
    seq: 'only the order that it gives matters, and the record holds that',
    iss: 'the actor is bound to them for good, and the audit, which is chained, has them with the vote',
    sub: 'the actor is bound to them for good, and the audit, which is chained, has them with the vote',
  },
};

export type RecordTable = keyof typeof RECORD_COLUMNS;
const isRecordTable = (table: string): table is RecordTable => Object.hasOwn(RECORD_COLUMNS, table);
export const columnsOf = (table: string): readonly string[] => (isRecordTable(table) ? RECORD_COLUMNS[table] : []);

/** Those that are covered, and those that are held against them. */
export const readColumnsOf = (table: string): readonly string[] => [...columnsOf(table), ...(BESIDE[table] ?? [])];
