import type { SealStatement } from '@capstan/integrity';
import type { JsonText, NullableTimestamp, Timestamp } from '../columns.js';

/** Chains and seals of runs that ended before the log existed. They are read, but no longer created. */
export type SealTables = {
  seals: SealTable;
  seal_links: {
    run_id: string;
    place: number;
    kind: 'run' | 'step' | 'invocation';
    id: string;
    record_hash: string;
    chain_hash: string;
    digests: JsonText<Record<string, string[]>>;
  };
};

export type SealTable = Omit<SealStatement, 'sealed_at'> & {
  sealed_at: Timestamp;
  seal_hash: string;
  signature: string | null;
  key_id: string | null;
  public_key: string | null;
  voided_at: NullableTimestamp;
  void_reason: string | null;
};
