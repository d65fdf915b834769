import type { EffectivePolicy } from '@capstan/contracts';
import type { JsonText, Timestamp } from '../columns.js';

export type PolicyTables = {
  policies: {
    name: string;
    version: number;
    policy_hash: string;
    document: JsonText<EffectivePolicy>;
    /** The YAML as sent; null if it was sent as JSON. */
    text: string | null;
    created_by: string;
    created_at: Timestamp;
  };
};
