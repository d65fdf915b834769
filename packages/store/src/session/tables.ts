import type { FileEncoding } from '@capstan/contracts';
import type { ColumnType, Generated, GeneratedAlways } from 'kysely';
import type { Timestamp } from '../columns.js';

export type SessionTables = {
  sessions: {
    tenant: string;
    session_id: string;
    files: Generated<number>;
    size_bytes: ColumnType<string, number | undefined, number>;
    created_at: Timestamp;
    used_at: Timestamp;
    cleared_seq: string | null;
  };
  session_files: {
    tenant: string;
    session_id: string;
    path: string;
    parent: string;
    is_directory: boolean;
    is_readonly: Generated<boolean>;
    content: Buffer | null;
    encoding: Generated<FileEncoding>;
    size_bytes: Generated<number>;
    created_at: Timestamp;
    updated_at: Timestamp;
  };
  scratchpad: {
    tenant: string;
    session_id: string;
    section: string;
    seq: GeneratedAlways<string>;
    content: Buffer;
    updated_at: Timestamp;
  };
};
