import type { JsonObject } from '@capstan/contracts';
import type { JsonText, Timestamp } from '../columns.js';

export type AtipTables = {
  atip_documents: {
    name: string;
    document: JsonText<JsonObject>;
    document_hash: string;
    installed_by: string;
    created_at: Timestamp;
    updated_at: Timestamp;
  };
};
