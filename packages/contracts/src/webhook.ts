import { z } from 'zod';
import { EventFilter } from './notification.js';

export const WebhookKind = z.enum(['standard', 'slack']);
export type WebhookKind = z.infer<typeof WebhookKind>;

const Url = z.url({ protocol: /^https?$/ }).max(2048);
const Events = z.array(EventFilter).min(1).max(32);
/** As Standard Webhooks writes it: 24 to 64 bytes in base64. */
const Secret = z
  .string()
  .max(100)
  .refine((text) => {
    const bytes = text.startsWith('whsec_') ? Buffer.from(text.slice(6), 'base64').length : 0;
    return bytes >= 24 && bytes <= 64;
  }, 'whsec_ and 24 to 64 bytes in base64');

export const NewWebhook = z.strictObject({
  url: Url,
  events: Events.default(['*']),
  kind: WebhookKind.default('standard'),
  secret: Secret.optional(),
});
export type NewWebhook = z.infer<typeof NewWebhook>;
export type NewWebhookInput = z.input<typeof NewWebhook>;

/** `enabled: true` takes up an endpoint again that was disabled. */
export const WebhookChange = z
  .strictObject({ url: Url, events: Events, secret: Secret, enabled: z.boolean() })
  .partial()
  .refine((one) => Object.keys(one).length > 0, 'at least one field must be given');
export type WebhookChange = z.infer<typeof WebhookChange>;

export const Webhook = z.object({
  webhook_id: z.string(),
  kind: WebhookKind,
  url: z.string(),
  events: z.array(z.string()),
  enabled: z.boolean(),
  disabled_reason: z.string().nullable(),
  created_by: z.string(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export type Webhook = z.infer<typeof Webhook>;

/** The only answer that has the secret. */
export const CreatedWebhook = Webhook.extend({ secret: z.string() });
export type CreatedWebhook = z.infer<typeof CreatedWebhook>;

export const WebhookDelivery = z.object({
  delivery_id: z.string(),
  webhook_id: z.string().nullable(),
  event_id: z.string().describe('The webhook-id of every attempt: a receiver that has seen it leaves it'),
  type: z.string(),
  subject: z.string(),
  state: z.enum(['pending', 'delivered', 'failed']),
  attempts: z.int(),
  next_at: z.iso.datetime().nullable(),
  response_status: z.int().nullable(),
  error: z.string().nullable(),
  duration_ms: z.number().nullable(),
  created_at: z.iso.datetime(),
  delivered_at: z.iso.datetime().nullable(),
});
export type WebhookDelivery = z.infer<typeof WebhookDelivery>;
