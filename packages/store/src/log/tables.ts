import type { Generated } from 'kysely';
import type { Timestamp } from '../columns.js';

export type LogTables = {
  logs: {
    invocation_id: string;
    attempt: number;
    seq: number;
    stream: 'stdout' | 'stderr';
    text: string;
    at: Timestamp;
    day: Generated<string>;
  };
};
