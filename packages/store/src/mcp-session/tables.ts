import type { JsonObject } from '@capstan/contracts';
import type { Generated } from 'kysely';
import type { JsonText, Timestamp } from '../columns.js';

export type McpSessionTables = {
  mcp_sessions: {
    session_id: string;
    tenant: string;
    actor: string;
    protocol_version: string;
    capabilities: JsonText<JsonObject>;
    client_info: JsonText<JsonObject>;
    log_level: string | null;
    subscriptions: Generated<string[]>;
    created_at: Timestamp;
    seen_at: Timestamp;
  };
};
