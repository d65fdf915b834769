import type { NewRetention } from '@capstan/contracts';
import type { JsonText, Timestamp } from '../columns.js';

export type RetentionTables = {
  retentions: {
    tenant: string;
    settings: JsonText<NewRetention>;
    updated_by: string;
    created_at: Timestamp;
    updated_at: Timestamp;
  };
};
