import type { Json, JsonObject, Role, StepStatus } from '@capstan/contracts';
import type { Generated } from 'kysely';
import type { JsonText, Timestamp } from '../columns.js';

export type PlanTables = {
  plan_runs: PlanRunTable;
  steps: StepTable;
};

/** The plan engine's state of a run, separate from the counts that settlements update. Advancing a run locks its row. */
type PlanRunTable = {
  run_id: string;
  tenant: string;
  actor: string;
  roles: Role[];
  plan: JsonText<JsonObject>;
  plan_hash: string;
  policy_hash: string;
  own_policy: Generated<boolean>;
  inputs: JsonText<JsonObject>;
  max_parallel: number | null;
  webhook_url: string | null;
  session_id: string | null;
  labels: JsonText<Record<string, string>>;
  /** The ids, names and tools of its steps, in the order of the plan. */
  step_ids: Generated<string[]>;
  step_names: Generated<(string | null)[]>;
  step_tools: Generated<string[]>;
  active: Generated<boolean>;
  paused: Generated<boolean>;
  stopping: 'failed' | 'canceled' | null;
  dropped: Generated<boolean>;
  waiting: Generated<boolean>;
  live: Generated<number>;
  unended: number;
  ended: Generated<number>;
  seq: Generated<number>;
  calls: JsonText<Record<string, number>>;
  created_at: Timestamp;
  traceparent: string | null;
};

/** A step, or an element of one. Steps that have not moved have no row. */
export type StepTable = {
  run_id: string;
  step: number;
  /** -1 for the step itself. */
  element: number;
  step_id: string;
  name: string | null;
  tool_id: string;
  status: Exclude<StepStatus, 'held' | 'deferred' | 'queued' | 'running'> | 'started';
  seq: number;
  item: JsonText<Json>;
  has_invocation: boolean;
  reason: string | null;
  elements: number | null;
  unended: number | null;
  unsuccessful: number | null;
  /** The run from which its result was taken; null if it ran in this run. */
  reused_from: string | null;
};
