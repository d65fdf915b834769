import { z } from 'zod';
import { Actor } from './key.js';
import { EventFilter } from './notification.js';

/** The kind of notification: Standard Webhooks, a message in Slack or Microsoft Teams, or mail. */
export const WebhookKind = z.enum(['standard', 'slack', 'teams', 'email']);
export type WebhookKind = z.infer<typeof WebhookKind>;

const Url = z
  .url({ protocol: /^(https?|mailto)$/ })
  .max(2048)
  .describe('http or https; for kind email mailto:, with addresses separated by commas');
const Events = z.array(EventFilter).min(1).max(32);
/** The format of Standard Webhooks: 24 to 64 bytes in base64. */
const isWebhookSecret = (text: string): boolean => {
  const bytes = text.startsWith('whsec_') ? Buffer.from(text.slice(6), 'base64').length : 0;
  return bytes >= 24 && bytes <= 64;
};

/** The signing secret of a Slack app, which signs what Slack sends. */
export const isSlackSecret = (text: string): boolean => /^[0-9a-f]{32,128}$/i.test(text);

const Secret = z
  .string()
  .max(130)
  .refine((text) => isWebhookSecret(text) || isSlackSecret(text), 'whsec_ and 24 to 64 bytes in base64')
  .describe('whsec_ and 24 to 64 bytes in base64; for kind slack also the signing secret of the Slack app');

const Users = z
  .record(z.string().regex(/^[UW][A-Z0-9]{1,63}$/, 'the id of a user of Slack, such as U024BE7LH'), Actor)
  .refine((users) => Object.keys(users).length <= 1000, 'at most 1,000')
  .describe('For kind slack: the actor for each Slack user id. If set, messages about holds have buttons');

const MAX_RECIPIENTS = 20;

/** The recipients of a `mailto:` URL. */
export const recipientsOf = (url: string): string[] =>
  url
    .replace(/^mailto:/i, '')
    .split(',')
    .map((each) => decodeURIComponent(each).trim());

export type WebhookParts = {
  kind: WebhookKind;
  url?: string | undefined;
  secret?: string | undefined;
  users?: Record<string, string> | undefined;
};

/** Returns the field to correct if some fields contradict each other, or null. */
export function webhookMistake({ kind, url, secret, users }: WebhookParts): { field: string; message: string } | null {
  const is_mail = url !== undefined && /^mailto:/i.test(url);
  if (url !== undefined && is_mail !== (kind === 'email'))
    return { field: 'url', message: kind === 'email' ? 'an email goes to mailto:' : 'only an email goes to mailto:' };
  if (url !== undefined && is_mail) {
    const recipients = recipientsOf(url);
    if (recipients.length > MAX_RECIPIENTS || !recipients.every((each) => z.email().safeParse(each).success))
      return { field: 'url', message: `mailto: and up to ${MAX_RECIPIENTS} addresses, with commas between` };
  }
  if (secret !== undefined && kind !== 'slack' && !isWebhookSecret(secret))
    return { field: 'secret', message: 'whsec_ and 24 to 64 bytes in base64' };
  if (users !== undefined && kind !== 'slack') return { field: 'users', message: 'only users of Slack decide there' };
  return null;
}

export const NewWebhook = z
  .strictObject({
    url: Url,
    events: Events.default(['*']),
    kind: WebhookKind.default('standard'),
    secret: Secret.optional(),
    users: Users.optional(),
  })
  .superRefine((sent, context) => {
    const mistake = webhookMistake(sent);
    if (mistake) context.addIssue({ code: 'custom', path: [mistake.field], message: mistake.message });
    else if (sent.users && !isSlackSecret(sent.secret ?? ''))
      context.addIssue({ code: 'custom', path: ['secret'], message: 'users need the signing secret of the Slack app' });
  });
export type NewWebhook = z.infer<typeof NewWebhook>;
export type NewWebhookInput = z.input<typeof NewWebhook>;

/** `enabled: true` enables a disabled endpoint again. */
export const WebhookChange = z
  .strictObject({ url: Url, events: Events, secret: Secret, enabled: z.boolean(), users: Users })
  .partial()
  .refine((one) => Object.keys(one).length > 0, 'at least one field must be given');
export type WebhookChange = z.infer<typeof WebhookChange>;

export const Webhook = z.object({
  webhook_id: z.string(),
  kind: WebhookKind,
  url: z.string(),
  events: z.array(z.string()),
  users: z.record(z.string(), z.string()).nullable().describe('For kind slack: the actor for each Slack user id'),
  enabled: z.boolean(),
  disabled_reason: z.string().nullable(),
  created_by: z.string(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export type Webhook = z.infer<typeof Webhook>;

/** The only response that contains the secret. */
export const CreatedWebhook = Webhook.extend({ secret: z.string() });
export type CreatedWebhook = z.infer<typeof CreatedWebhook>;

export const WebhookDelivery = z.object({
  delivery_id: z.string(),
  webhook_id: z.string().nullable(),
  event_id: z.string().describe('The webhook-id of every attempt, with which receivers detect duplicates'),
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
