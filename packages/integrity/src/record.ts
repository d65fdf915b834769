import { canonicalJson } from './canonical-json.js';
import { hashText } from './hash-json.js';

export type Row = Readonly<Record<string, unknown>>;

/** What one link of a seal covers: rows of one or several tables that belong together. */
export type Entry = {
  kind: 'run' | 'step' | 'invocation';
  id: string;
  tables: Readonly<Record<string, readonly Row[]>>;
};

/** Short digests of every field, by table and row; they only say where a difference is, the record's hash that there is one. */
export type FieldDigests = Record<string, string[]>;

export type SealedEntry = { record_hash: string; digests: FieldDigests };

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
    ...[
      'invocation_id',
      'attempt',
      'success',
      'error',
      'code',
      'declared_side_effects',
      'artifacts',
      'facts',
    ],
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
  hold_entries: { seq: 'only the order that it gives matters, and the record holds that' },
};

export type RecordTable = keyof typeof RECORD_COLUMNS;
const isRecordTable = (table: string): table is RecordTable => Object.hasOwn(RECORD_COLUMNS, table);
export const columnsOf = (table: string): readonly string[] => (isRecordTable(table) ? RECORD_COLUMNS[table] : []);

/** Those that are covered, and those that are held against them. */
export const readColumnsOf = (table: string): readonly string[] => [...columnsOf(table), ...(BESIDE[table] ?? [])];

/** The hash of a record, and the digests that tell later which field changed. */
export function sealEntry({ kind, id, tables }: Entry): SealedEntry {
  const digests: FieldDigests = {};
  let text = `{"id":${canonicalJson(id)},"kind":${canonicalJson(kind)},"tables":{`;
  Object.keys(tables)
    .sort()
    .forEach((table, at) => {
      const rows = (tables[table] ?? []).map((row) => sealRow(table, row));
      digests[table] = rows.map((row) => row.digests);
      text += `${at > 0 ? ',' : ''}${canonicalJson(table)}:[${rows.map((row) => row.text).join(',')}]`;
    });
  return { record_hash: hashText(`${text}}}`), digests };
}

const DIGEST = 6;
const NONE = '.'.repeat(DIGEST);

/** Each value is written once, for the hash and for its digest. */
function sealRow(table: string, row: Row): { text: string; digests: string } {
  const members: [name: string, text: string][] = [];
  let digests = '';
  for (const field of columnsOf(table)) {
    const value = row[field];
    if (value === null || value === undefined) digests += NONE;
    else {
      const text = canonicalJson(value);
      members.push([field, text]);
      digests += digestOf(text);
    }
  }
  members.sort(([a], [b]) => (a < b ? -1 : 1));
  return { text: `{${members.map(([name, text]) => `"${name}":${text}`).join(',')}}`, digests };
}

/** Only to find a field again: FNV-1a, which costs a tenth of a SHA-256 on the short texts that most fields are. */
function digestOf(text: string): string {
  if (text.length > 128) return hashText(text).slice(7, 7 + DIGEST);
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return ((hash >>> 8) ^ (hash & 0xff)).toString(16).padStart(DIGEST, '0');
}

export type FieldChange = { table: string; row: number; field: string };

/** Which fields differ from what was sealed; a row too many or too few is the field `row`. */
export function changedFields(digests: FieldDigests, sealed: FieldDigests): FieldChange[] {
  const changes: FieldChange[] = [];
  for (const table of new Set([...Object.keys(digests), ...Object.keys(sealed)])) {
    const now = digests[table] ?? [];
    const then = sealed[table] ?? [];
    for (let row = 0; row < Math.max(now.length, then.length); row++) {
      const [is, was] = [now[row], then[row]];
      if (is === undefined || was === undefined) changes.push({ table, row, field: 'row' });
      else
        columnsOf(table).forEach((field, at) => {
          const place = at * DIGEST;
          if (is.slice(place, place + DIGEST) !== (was.slice(place, place + DIGEST) || NONE))
            changes.push({ table, row, field });
        });
    }
  }
  return changes;
}
