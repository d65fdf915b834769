import type { RunStatus } from '@capstan/contracts';
import type { Generated, GeneratedAlways } from 'kysely';
import type { NullableTimestamp, Timestamp } from '../columns.js';

export type RunTables = {
  runs: {
    run_id: string;
    seq: GeneratedAlways<string>;
    tenant: string;
    actor: string;
    kind: 'bulk' | 'plan';
    /** Only for plans; the status of a bulk follows from its counts. */
    status: RunStatus | null;
    name: string | null;
    plan_hash: string | null;
    policy_hash: string | null;
    reason: string | null;
    mode: Generated<'execution' | 'replay'>;
    replay_of: Generated<string | null>;
    skipped_steps: Generated<number>;
    total_steps: number;
    live_steps: number;
    completed_steps: Generated<number>;
    denied_steps: Generated<number>;
    failed_steps: Generated<number>;
    canceled_steps: Generated<number>;
    created_at: Timestamp;
    finished_at: NullableTimestamp;
    /** The position of its end in the order of the log; set by a trigger. */
    end_seq: Generated<string | null>;
    end_xid: Generated<string | null>;
  };
};
