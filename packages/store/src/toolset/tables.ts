import type { NewToolset } from '@capstan/contracts';
import type { JsonText, Timestamp } from '../columns.js';

export type ToolsetTables = {
  toolsets: {
    tenant: string;
    name: string;
    config: JsonText<NewToolset>;
    created_at: Timestamp;
    updated_at: Timestamp;
  };
};
