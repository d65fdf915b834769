import type { Json, JsonObject, Role, StepStatus } from '@capstan/contracts';
import type { Generated } from 'kysely';
import type { JsonText, Timestamp } from '../columns.js';

export type PlanTables = {
  plan_runs: PlanRunTable;
  steps: StepTable;
};

/** What the engine of plans keeps of a run, apart from what settlements count; whoever advances the run locks it. */
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
  /** What its steps are called, in the order of the plan, and which tools they call. */
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
};

/** A step that has moved, or an element. What has not moved has no row. */
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
  /** The run whose result it has, where that is another. */
  reused_from: string | null;
};
