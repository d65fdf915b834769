import type { Timestamp } from '../columns.js';

export type SecretTables = {
  secrets: SecretTable;
};

/** The value is encrypted before it gets here (see secret-keys.ts). */
type SecretTable = {
  tenant: string;
  name: string;
  key_id: string;
  sealed: Buffer;
  tools: string[] | null;
  hosts: string[] | null;
  updated_by: string;
  created_at: Timestamp;
  updated_at: Timestamp;
};
