import type { RunnerType } from '@capstan/contracts';

export type QueueTables = {
  queues: { runner: RunnerType; paused: boolean };
};
