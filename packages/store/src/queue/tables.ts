import type { QueueName } from '@capstan/contracts';

export type QueueTables = {
  queues: { runner: QueueName; paused: boolean };
};
