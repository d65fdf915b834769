import type { RunnerType } from '@capstan/contracts';
import type { Generated } from 'kysely';
import type { NullableTimestamp, Timestamp } from '../columns.js';

export type WorkerTables = {
  workers: {
    worker_id: string;
    runners: RunnerType[];
    host: string;
    pid: number;
    concurrency: number;
    started_at: Timestamp;
    seen_at: Timestamp;
    lease_until: Timestamp;
    draining: Generated<boolean>;
    stopped_at: NullableTimestamp;
  };
};
