import type { QueueName, TerminalStatus } from '@capstan/contracts';
import type { Timestamp } from '../columns.js';

export type StatsTables = {
  stats: {
    tenant: string;
    grain: 'minute' | 'hour';
    t: Timestamp;
    runner: QueueName;
    tool_id: string;
    status: TerminalStatus;
    measure: 'ended' | 'wait' | 'run';
    bucket: number;
    count: string;
  };
  stats_cursor: { only_one: boolean; xid: string; seq: string; top_seq: string; after_seq: string };
};
