import type { JsonObject, Overlap, ScheduleFire } from '@capstan/contracts';
import type { ColumnType, GeneratedAlways } from 'kysely';
import type { JsonText, NullableJsonText, NullableTimestamp, Timestamp } from '../columns.js';

export type ScheduleTables = {
  schedules: ScheduleTable;
  schedule_fires: {
    schedule_id: string;
    fire_at: Timestamp;
    outcome: ScheduleFire['outcome'];
    run_id: string | null;
    detail: string | null;
  };
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
  submission: NullableJsonText<JsonObject>;
  tool_id: string | null;
  plan: NullableJsonText<JsonObject>;
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
