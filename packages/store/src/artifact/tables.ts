import type { ColumnType } from 'kysely';
import type { Timestamp } from '../columns.js';

export type ArtifactTables = {
  artifacts: {
    sha256: string;
    size: ColumnType<string, number, never>;
    place: 'postgres' | 'disk' | 's3';
    content: Buffer | null;
    used_at: Timestamp;
  };
  artifact_names: {
    invocation_id: string;
    sha256: string;
    name: string;
    media_type: string;
    tenant: string;
    attempt: number | null;
  };
};
