import type { Role } from '@capstan/contracts';
import type { Timestamp } from '../columns.js';

export type KeyTables = {
  keys: {
    key_id: string;
    key_hash: string;
    tenant: string;
    actor: string;
    roles: Role[];
    /** The pool that it serves, with the role `serve`. */
    pool: string | null;
    created_at: Timestamp;
  };
};
