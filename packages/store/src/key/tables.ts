import type { Role } from '@capstan/contracts';
import type { Timestamp } from '../columns.js';

export type KeyTables = {
  keys: {
    key_id: string;
    key_hash: string;
    tenant: string;
    actor: string;
    roles: Role[];
    /** The pool that a key with the role `serve` may serve. */
    pool: string | null;
    created_at: Timestamp;
  };
};
