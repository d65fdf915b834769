import type { Descriptor, McpListing, NewMcpServer } from '@capstan/contracts';
import type { Generated } from 'kysely';
import type { JsonText, NullableJsonText, NullableTimestamp, Timestamp } from '../columns.js';

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
    listing: NullableJsonText<McpListing>;
  };
  mcp_pins: {
    server: string;
    tool_id: string;
    descriptor: JsonText<Descriptor>;
    descriptor_hash: string;
    found: NullableJsonText<Descriptor>;
    found_hash: string | null;
    found_at: NullableTimestamp;
    accepted_by: string;
    accepted_at: Timestamp;
  };
  mcp_credentials: {
    server: string;
    tenant: string;
    owner: string;
    key_id: string;
    sealed: Buffer;
    updated_at: Timestamp;
  };
  mcp_logins: {
    state: string;
    server: string;
    tenant: string;
    owner: string;
    actor: string;
    key_id: string;
    sealed: Buffer;
    created_at: Timestamp;
  };
};
