import type { JsonObject } from '@capstan/contracts';
import type { GeneratedAlways, JSONColumnType } from 'kysely';
import type { Timestamp } from '../columns.js';

export type AuditTables = {
  audit: {
    seq: GeneratedAlways<string>;
    at: Timestamp;
    tenant: string;
    actor: string;
    event: string;
    subject: string;
    detail: JSONColumnType<JsonObject>;
  };
  audit_links: { seq: string; tenant: string; place: string; chain_hash: string };
  audit_cursor: { only_one: boolean; low: string; next_low: string; next_at: Timestamp };
};
