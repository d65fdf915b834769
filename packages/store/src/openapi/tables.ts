import type { JsonObject, OpenApiOptions } from '@capstan/contracts';
import type { JsonText, Timestamp } from '../columns.js';

export type OpenApiTables = {
  openapi_documents: {
    name: string;
    document: JsonText<JsonObject>;
    document_hash: string;
    /** The options of the conversion to tools: base_url, auth, include, exclude. */
    options: JsonText<OpenApiOptions>;
    installed_by: string;
    created_at: Timestamp;
    updated_at: Timestamp;
  };
};
