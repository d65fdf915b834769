/** A row as it goes into the log: every value as the text that Postgres gives for it, in UTC. */
export type TextRow = Readonly<Record<string, string | null>>;

/**
 * What a record of the log covers of each table, in this order. A record names its version, and that fixes the columns: a
 * table that grows gets a new version of the records that cover it, and the old ones stay as they are.
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
  /** The invocations of a run, in the order of submission. */
  calls: ['invocation_id'],
} as const satisfies Record<string, readonly string[]>;
export type LogTable = keyof typeof LOG_COLUMNS;

/** Read with a record and not part of it: held against the hashes that are. */
export const BESIDE_LOG: Readonly<Partial<Record<LogTable, readonly string[]>>> = {
  invocations: ['inputs'],
  results: ['payload', 'removed_at'],
  plan_runs: ['plan'],
};

/** What no record covers, and why. */
export const NOT_IN_LOG: Readonly<Partial<Record<LogTable, Readonly<Record<string, string>>>>> = {
  invocations: {
    inputs: 'held against input_hash, which is covered',
    watched: 'says whether a webhook is told',
    traceparent: 'says which trace it is part of',
    first_attempt: 'only of invocations that ended before the log began; results have their own',
    available_at: 'only of invocations that ended before the log began',
    cancel_requested_at: 'only of invocations that ended before the log began',
  },
  results: {
    invocation_id: 'that of the invocation, by which it is found',
    seq: 'leads to the entry of the log; another leads to another entry, or to none',
    xid: 'which transaction wrote it, for the order of the log',
    chain_hash: 'of seals from before the log',
    payload: 'held against output_hash, which is covered',
    removed_at: 'set by retention, after the end',
  },
  attempts: { invocation_id: 'that of the invocation, by which they are found' },
  holds: {
    invocation_id: 'that of the invocation, by which it is found',
    seq: 'counts within one installation',
    warn_at: 'changes as reminders are sent',
    announced_round: 'changes as reminders are sent',
    used_at: 'a worker that was given up as lost may still set it, after the end',
    question: 'what an MCP server asked while the call ran; whoever answered is covered, with the hash of the answers',
    answers: 'the entry of whoever gave them has their hash, which is covered',
    approved_before: 'the approval from before a question; what was approved in the end is covered',
    live: 'false once the call has ended',
  },
  hold_entries: {
    hold_id: 'that of the hold, by which they are found',
    seq: 'only the order that it gives matters, and the record holds that',
    iss: 'the actor is bound to them for good, and the audit, which is chained, has them with the vote',
    sub: 'the actor is bound to them for good, and the audit, which is chained, has them with the vote',
  },
  runs: {
    seq: 'counts within one installation',
    sealed: 'of seals from before the log',
    end_seq: 'leads to the entry of the log; another leads to another entry, or to none',
    end_xid: 'which transaction ended it, for the order of the log',
  },
  plan_runs: {
    run_id: 'that of the run, by which it is found',
    plan: 'held against plan_hash, which is covered',
    own_policy: 'decides nothing once the run is over; policy_hash is covered',
    waiting: 'false once the run is over; what its steps came to is covered',
    step_ids: 'what the plan says, which is covered',
    step_names: 'what the plan says, which is covered',
    step_tools: 'what the plan says, which is covered',
  },
  steps: {
    run_id: 'that of the run, by which they are found',
    unmet: 'not kept any more',
  },
};

/** The tables of a record: those with one row, column by column, and those with any number of rows. */
export const LOG_KINDS = {
  invocation: {
    version: 'capstan/invocation/1',
    one: ['invocations', 'results'],
    many: ['attempts', 'holds', 'hold_entries'],
  },
  run: { version: 'capstan/run/1', one: ['runs'], many: ['plan_runs', 'steps', 'calls'] },
} as const satisfies Record<string, { version: string; one: readonly LogTable[]; many: readonly LogTable[] }>;
export type LogKind = keyof typeof LOG_KINDS;
