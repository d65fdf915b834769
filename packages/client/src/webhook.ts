import type { CreatedWebhook, NewWebhookInput, Webhook, WebhookChange, WebhookDelivery } from '@capstan/contracts';
import { listFrom } from './list-from.js';
import type { Listing, PageOptions } from './listing.js';
import type { Transport } from './transport.js';

export type Webhooks = {
  /** Creates a webhook. Only this response contains the secret. */
  create(webhook: NewWebhookInput): Promise<CreatedWebhook>;
  get(webhook_id: string): Promise<Webhook>;
  list(options?: PageOptions): Listing<Webhook>;
  change(webhook_id: string, change: WebhookChange): Promise<Webhook>;
  remove(webhook_id: string): Promise<void>;
  /** With `urls` as the id, lists deliveries to the webhook_url of invocations and runs. */
  deliveries(webhook_id: string, options?: PageOptions): Listing<WebhookDelivery>;
  redeliver(webhook_id: string, delivery_id: string): Promise<WebhookDelivery>;
  /** Replaces the secret for deliveries to a webhook_url. The old one is no longer used. */
  replaceSecret(): Promise<{ secret: string }>;
};

export const webhooks = (transport: Transport): Webhooks => {
  const at = (webhook_id: string): string => `/v1/webhooks/${encodeURIComponent(webhook_id)}`;
  return {
    create: (webhook) => transport.json('POST', '/v1/webhooks', { body: webhook }),
    get: (webhook_id) => transport.json('GET', at(webhook_id)),
    list: (options = {}) => listFrom(transport, '/v1/webhooks', { ...options }),
    change: (webhook_id, change) => transport.json('PATCH', at(webhook_id), { body: change }),
    remove: (webhook_id) => transport.json('DELETE', at(webhook_id)),
    deliveries: (webhook_id, options = {}) => listFrom(transport, `${at(webhook_id)}/deliveries`, { ...options }),
    redeliver: (webhook_id, delivery_id) =>
      transport.json('POST', `${at(webhook_id)}/deliveries/${encodeURIComponent(delivery_id)}/redeliver`, { body: {} }),
    replaceSecret: () => transport.json('POST', '/v1/webhooks/secret', { body: {} }),
  };
};
