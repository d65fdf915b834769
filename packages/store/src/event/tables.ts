import type { EventType, JsonObject } from '@capstan/contracts';
import type { Generated } from 'kysely';
import type { JsonText, Timestamp } from '../columns.js';

export type EventTables = {
  events: {
    event_id: string;
    tenant: string;
    type: EventType;
    subject: string;
    data: JsonText<JsonObject>;
    url: string | null;
    at: Timestamp;
    fanned_out: Generated<boolean>;
  };
};
