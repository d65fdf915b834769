import type { QuotaLimits } from '@capstan/contracts';
import type { JsonText, Timestamp } from '../columns.js';

export type QuotaTables = {
  quotas: {
    scope: string;
    limits: JsonText<QuotaLimits>;
    on_exceed: 'defer' | 'deny';
    updated_by: string;
    created_at: Timestamp;
    updated_at: Timestamp;
  };
  quota_uses: { scope: string; taken_at: Timestamp; invocation_id: string; cost_units: number };
  quota_warnings: { scope: string; limit_name: string; window_start: Timestamp };
};
