import type { Delivery } from '@capstan/contracts';
import type { JsonText, Timestamp } from '../columns.js';

export type OutboxTables = {
  outbox: { outbox_id: string; deliveries: JsonText<Delivery[]>; created_at: Timestamp };
};
