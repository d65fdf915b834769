import type { NewMcpServer } from '@capstan/contracts';
import type { Generated } from 'kysely';
import type { JsonText, NullableTimestamp, Timestamp } from '../columns.js';

export type McpServerTables = {
  mcp_servers: {
    name: string;
    config: JsonText<NewMcpServer>;
    enabled: boolean;
    version: Generated<number>;
    stale: Generated<boolean>;
    tools: Generated<number>;
    failures: Generated<number>;
    error: string | null;
    marked_at: NullableTimestamp;
    attempted_at: NullableTimestamp;
    discovered_at: NullableTimestamp;
    created_by: string;
    created_at: Timestamp;
    updated_at: Timestamp;
  };
};
