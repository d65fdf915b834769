import type { Generated } from 'kysely';
import type { Timestamp } from '../columns.js';

export type MerkleTables = {
  log_cursor: {
    only_one: Generated<boolean>;
    installation: Generated<string>;
    system_identifier: string | null;
    xid: Generated<string>;
    seq: Generated<string>;
    top_seq: Generated<string>;
    after_seq: Generated<string>;
  };
  log_heads: { tenant: string; size: string; edge: Buffer };
  log_batches: {
    tenant: string;
    first: string;
    first_seq: string;
    last_seq: string;
    seqs: string[];
    hashes: Buffer;
    digests: Buffer[];
    at: Timestamp;
  };
  log_nodes: { tenant: string; level: number; index: string; hash: Buffer };
  log_checkpoints: { tenant: string; size: string; note: string; key: string | null; at: Timestamp };
  log_superseded: { seq: string; tenant: string; run_id: string; id: string; reason: string; at: Timestamp };
};
