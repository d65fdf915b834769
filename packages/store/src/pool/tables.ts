import type { Descriptor } from '@capstan/contracts';
import type { JsonText, Timestamp } from '../columns.js';

export type PoolTables = {
  pool_versions: { pool: string; version: string; descriptors: JsonText<Descriptor[]>; put_at: Timestamp };
  app_secret_uses: { worker_id: string; invocation_id: string; name: string };
};
