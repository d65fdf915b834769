import type { WebhookKind } from '@capstan/contracts';
import type { Generated, GeneratedAlways } from 'kysely';
import type { NullableJsonText, NullableTimestamp, Timestamp } from '../columns.js';

export type WebhookTables = {
  webhooks: WebhookTable;
  webhook_secrets: { tenant: string; key_id: string; sealed: Buffer; created_at: Timestamp };
  webhook_deliveries: WebhookDeliveryTable;
};

type WebhookTable = {
  webhook_id: string;
  seq: GeneratedAlways<string>;
  tenant: string;
  kind: WebhookKind;
  url: string;
  events: string[];
  users: NullableJsonText<Record<string, string>>;
  key_id: string;
  sealed: Buffer;
  enabled: Generated<boolean>;
  disabled_reason: Generated<string | null>;
  created_by: string;
  created_at: Timestamp;
  updated_at: Timestamp;
};

type WebhookDeliveryTable = {
  delivery_id: string;
  seq: GeneratedAlways<string>;
  tenant: string;
  event_id: string;
  webhook_id: string | null;
  target: string;
  state: 'pending' | 'delivered' | 'failed';
  attempts: number;
  next_at: Timestamp;
  retry_since: Timestamp;
  response_status: number | null;
  error: string | null;
  duration_ms: number | null;
  created_at: Timestamp;
  delivered_at: NullableTimestamp;
};
