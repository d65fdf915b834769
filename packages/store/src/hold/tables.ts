import type { Answers, Approvals, HoldEntry, HoldStatus, JsonObject, Question, Risk, Role } from '@capstan/contracts';
import type { ColumnType, Generated, GeneratedAlways } from 'kysely';
import type { NullableJsonText, NullableTimestamp, Timestamp } from '../columns.js';

export type HoldTables = {
  holds: HoldTable;
  hold_entries: HoldEntryTable;
  grants: GrantTable;
};

/** A pending hold may only be changed while the row of its invocation is locked. */
type HoldTable = {
  hold_id: string;
  seq: GeneratedAlways<string>;
  invocation_id: string;
  tenant: string;
  actor: string;
  tool_id: string;
  status: HoldStatus;
  round: number;
  approvals: NullableJsonText<Approvals>;
  returned_because: string | null;
  original_inputs: NullableJsonText<JsonObject>;
  original_input_hash: string | null;
  approved_input_hash: string | null;
  approved_descriptor_hash: string | null;
  approved_policy_hash: string | null;
  approval_expires_at: NullableTimestamp;
  used_at: NullableTimestamp;
  spent: Generated<boolean>;
  expires_in_ms: ColumnType<string, number, number>;
  created_at: Timestamp;
  expires_at: Timestamp;
  warn_at: NullableTimestamp;
  announced_round: Generated<number>;
  decided_at: NullableTimestamp;
  decided_by: string | null;
  question: NullableJsonText<Question>;
  answers: NullableJsonText<Answers>;
  /** The approval that the call had before the question. */
  approved_before: NullableJsonText<JsonObject>;
  live: Generated<boolean>;
};

type HoldEntryTable = {
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
  iss: string | null;
  sub: string | null;
};

type GrantTable = {
  grant_id: string;
  seq: GeneratedAlways<string>;
  tenant: string;
  actor: string;
  roles: Role[];
  /** The key with which it was given. */
  key_id: string | null;
  kind: 'tool' | 'plan';
  tool_id: string | null;
  plan_hash: string | null;
  input_hash: string | null;
  max_risk: Risk | null;
  count: number | null;
  used: Generated<number>;
  applied: Generated<boolean>;
  comment: string | null;
  created_at: Timestamp;
  expires_at: Timestamp;
  revoked_at: NullableTimestamp;
};
