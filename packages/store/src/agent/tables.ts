import type { NewAgent } from '@capstan/contracts';
import type { Generated, GeneratedAlways } from 'kysely';
import type { JsonText, Timestamp } from '../columns.js';

export type AgentTables = {
  agents: {
    agent_id: string;
    seq: GeneratedAlways<string>;
    tenant: string;
    definition: JsonText<NewAgent>;
    version: Generated<number>;
    created_by: string;
    created_at: Timestamp;
    updated_at: Timestamp;
  };
};
