import type { QueueName } from '@capstan/contracts';
import type { Generated } from 'kysely';
import type { NullableJsonText, NullableTimestamp, Timestamp } from '../columns.js';

export type WorkerTables = {
  workers: {
    worker_id: string;
    runners: QueueName[];
    host: string;
    pid: number;
    concurrency: number;
    /** How many calls it runs at once, by runner type; null for workers of versions that did not report it. */
    slots: NullableJsonText<Record<string, number>>;
    started_at: Timestamp;
    seen_at: Timestamp;
    lease_until: Timestamp;
    draining: Generated<boolean>;
    stopped_at: NullableTimestamp;
    /** For a worker of a pool, the version of the tools that it serves. */
    version: string | null;
  };
};
