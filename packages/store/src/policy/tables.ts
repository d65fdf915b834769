import type { PolicyDocument } from '@capstan/contracts';
import type { JsonText, Timestamp } from '../columns.js';

export type PolicyTables = {
  policies: {
    name: string;
    version: number;
    policy_hash: string;
    document: JsonText<PolicyDocument>;
    created_by: string;
    created_at: Timestamp;
  };
};
