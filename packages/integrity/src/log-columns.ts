/** A row as it is logged: every value as the text that Postgres returns, in UTC. */
export type TextRow = Readonly<Record<string, string | null>>;

/**
 * The columns of each table that a log record covers, in this order. The version of a record determines its columns: if a table
 * gets new ones, the records that cover it get a new version and existing records stay valid.
 */
export const LOG_COLUMNS = {
  invocations: [
    ...['invocation_id', 'seq', 'tenant', 'actor', 'roles', 'run_id', 'tool_id', 'runner', 'input_hash'],
    ...['descriptor_hash', 'policy_hash', 'decision', 'mode', 'session_id', 'idempotency_key', 'idempotent'],
    ...['spec_frozen', 'spec_hash', 'priority', 'timeout_ms', 'max_attempts', 'retry_backoff_ms', 'webhook_url'],
    ...['labels', 'quota_scopes', 'admitted', 'run_at', 'expires_at', 'created_at'],
  ],
  results: [
    ...['status', 'attempt', 'first_attempt', 'outcome', 'worker_id', 'started_at', 'finished_at', 'success', 'error'],
    ...['code', 'declared_side_effects', 'artifacts', 'facts', 'duration_ms', 'exit_code', 'truncated', 'input_hash'],
    'output_hash',
  ],
  attempts: ['attempt', 'worker_id', 'started_at', 'ended_at', 'outcome', 'error'],
  holds: [
    ...['hold_id', 'tenant', 'actor', 'tool_id', 'status', 'round', 'approvals', 'returned_because'],
    ...['original_inputs', 'original_input_hash', 'approved_input_hash', 'approved_descriptor_hash'],
    ...['approved_policy_hash', 'approval_expires_at', 'spent', 'expires_in_ms', 'created_at', 'expires_at'],
    ...['decided_at', 'decided_by'],
  ],
  hold_entries: [
    ...['at', 'actor', 'kind', 'round', 'comment', 'input_hash', 'descriptor_hash', 'policy_hash'],
    ...['previous_input_hash', 'changed', 'grant_id'],
  ],
  runs: [
    ...[
      'run_id',
      'tenant',
      'actor',
      'kind',
      'status',
      'name',
      'plan_hash',
      'policy_hash',
      'reason',
      'mode',
      'replay_of',
    ],
    ...['total_steps', 'live_steps', 'completed_steps', 'denied_steps', 'failed_steps', 'canceled_steps'],
    ...['skipped_steps', 'created_at', 'finished_at'],
  ],
  plan_runs: [
    ...['tenant', 'actor', 'roles', 'plan_hash', 'policy_hash', 'inputs', 'max_parallel', 'webhook_url', 'session_id'],
    ...['labels', 'active', 'paused', 'stopping', 'dropped', 'live', 'unended', 'ended', 'seq', 'calls', 'created_at'],
  ],
  steps: [
    ...['step', 'element', 'step_id', 'name', 'tool_id', 'status', 'seq', 'item', 'has_invocation', 'reason'],
    ...['elements', 'unended', 'unsuccessful', 'reused_from'],
  ],
  /** The invocations of a run, in order of submission. */
  calls: ['invocation_id'],
} as const satisfies Record<string, readonly string[]>;
export type LogTable = keyof typeof LOG_COLUMNS;

/** Columns that are read with a record but not covered by it. They are checked against hashes that are covered. */
export const BESIDE_LOG: Readonly<Partial<Record<LogTable, readonly string[]>>> = {
  invocations: ['inputs'],
  results: ['payload', 'removed_at'],
  plan_runs: ['plan'],
};

/** The columns that no record covers, and why. */
export const NOT_IN_LOG: Readonly<Partial<Record<LogTable, Readonly<Record<string, string>>>>> = {
  invocations: {
    inputs: 'checked against input_hash, which is covered',
    watched: 'only says whether webhooks report the call',
    traceparent: 'only links the call to its trace',
    first_attempt: 'set only for invocations that ended before the log existed; results have their own',
    available_at: 'set only for invocations that ended before the log existed',
    cancel_requested_at: 'set only for invocations that ended before the log existed',
  },
  results: {
    invocation_id: 'the key of the invocation by which the row is found',
    seq: 'locates the log entry; a changed value leads to another entry or to none',
    xid: 'the transaction that wrote the row, for the order of the log',
    chain_hash: 'part of seals from before the log',
    payload: 'checked against output_hash, which is covered',
    removed_at: 'set by retention after the end',
  },
  attempts: { invocation_id: 'the key of the invocation by which the rows are found' },
  holds: {
    invocation_id: 'the key of the invocation by which the row is found',
    seq: 'a counter of the installation',
    warn_at: 'changes as reminders are sent',
    announced_round: 'changes as reminders are sent',
    used_at: 'a worker that was considered lost may still set it after the end',
    question: 'asked by an MCP server during the call; the person who answered and the hash of the answers are covered',
    answers: 'their hash is covered, in the entry of the person who gave them',
    approved_before: 'the approval before a question; the final approval is covered',
    live: 'false once the call has ended',
  },
  hold_entries: {
    hold_id: 'the key of the hold by which the rows are found',
    seq: 'only the resulting order matters, which the record covers',
    iss: 'permanently bound to the actor; the chained audit has it with the vote',
    sub: 'permanently bound to the actor; the chained audit has it with the vote',
  },
  runs: {
    seq: 'a counter of the installation',
    sealed: 'part of seals from before the log',
    end_seq: 'locates the log entry; a changed value leads to another entry or to none',
    end_xid: 'the transaction that ended the run, for the order of the log',
  },
  plan_runs: {
    run_id: 'the key of the run by which the row is found',
    plan: 'checked against plan_hash, which is covered',
    own_policy: 'has no effect after the run has ended; policy_hash is covered',
    waiting: 'false once the run has ended; the outcomes of its steps are covered',
    step_ids: 'part of the plan, which is covered',
    step_names: 'part of the plan, which is covered',
    step_tools: 'part of the plan, which is covered',
    traceparent: 'only links the run to its trace',
  },
  steps: {
    run_id: 'the key of the run by which the rows are found',
    unmet: 'no longer written',
  },
};

/** The tables of a record: those with exactly one row, and those with any number of rows. */
export const LOG_KINDS = {
  invocation: {
    version: 'capstan/invocation/1',
    one: ['invocations', 'results'],
    many: ['attempts', 'holds', 'hold_entries'],
  },
  run: { version: 'capstan/run/1', one: ['runs'], many: ['plan_runs', 'steps', 'calls'] },
} as const satisfies Record<string, { version: string; one: readonly LogTable[]; many: readonly LogTable[] }>;
export type LogKind = keyof typeof LOG_KINDS;
