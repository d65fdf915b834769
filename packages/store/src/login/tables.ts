import type { Role } from '@capstan/contracts';
import type { Timestamp } from '../columns.js';

export type LoginTables = {
  logins: {
    login_id: string;
    secret_hash: string;
    key_id: string | null;
    tenant: string | null;
    actor: string | null;
    roles: Role[] | null;
    iss: string | null;
    sub: string | null;
    created_at: Timestamp;
    expires_at: Timestamp;
  };
  identities: { tenant: string; actor: string; iss: string; sub: string; created_at: Timestamp };
};
