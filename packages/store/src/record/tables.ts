import type { JsonText, Timestamp } from '../columns.js';

export type RecordTables = {
  descriptors: { descriptor_hash: string; descriptor: JsonText<unknown>; seen_at: Timestamp };
  bundles: {
    bundle_id: string;
    tenant: string;
    run_id: string;
    kind: string;
    count: number;
    seal_hash: string;
    imported_by: string;
    created_at: Timestamp;
  };
  bundle_lines: { bundle_id: string; number: number; line: string };
};
