import { Failure, type JsonObject, recipientsOf } from '@capstan/contracts';
import type { Egress } from '@capstan/egress';
import { createRedactor } from '@capstan/redact';
import type { Store } from '@capstan/store';
import { getHold } from '@capstan/store/hold';
import type { SecretKeys } from '@capstan/store/secret';
import { type ClaimedDelivery, openDefaultSecret, openWebhookSecret, signHoldLink } from '@capstan/store/webhook';
import { Webhook } from 'standardwebhooks';
import { type Mailer, mailOf } from './mailer.js';
import { type Decidable, slackMessage } from './slack-message.js';
import { teamsMessage } from './teams-message.js';
import { sayingOf } from './told.js';

export type Sender = {
  store: Store;
  egress: Pick<Egress, 'fetch'>;
  secret_keys: SecretKeys;
  allow_private: boolean;
  public_url: string;
  timeout_ms: number;
  mailer: Mailer;
};

export type Sent = { response_status: number | null; error: string | null; delivered: boolean; gone: boolean };

const GONE = 410;
const MAX_ANSWER_BYTES = 1024;

/** Signs and sends a delivery through the egress guard. Any 2xx confirms it. Redirects are not followed and count as failures. */
export async function sendDelivery(sender: Sender, delivery: ClaimedDelivery): Promise<Sent> {
  const { egress, allow_private, timeout_ms } = sender;
  try {
    if (delivery.kind === 'email') return await sendMails(sender, delivery);
    const body = JSON.stringify(await bodyOf(sender, delivery));
    const response = await egress.fetch(delivery.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'capstan-webhooks',
        ...sign(await secretOf(sender, delivery), delivery, body),
      },
      body,
      rules: { deny_private_ips: !allow_private },
      max_redirects: 0,
      first_byte_timeout_ms: timeout_ms,
      signal: AbortSignal.timeout(timeout_ms),
    });
    const delivered = response.status >= 200 && response.status < 300;
    if (delivered) response.discard();
    const error = delivered ? null : `HTTP ${response.status} ${await answerOf(response)}`.trim();
    return { response_status: response.status, delivered, error, gone: response.status === GONE };
  } catch (error) {
    return { response_status: null, delivered: false, error: reasonOf(error), gone: false };
  }
}

/** Sends a separate mail to each recipient, because the link in it works once. */
async function sendMails(sender: Sender, delivery: ClaimedDelivery): Promise<Sent> {
  const { mailer, public_url } = sender;
  const { event_id, webhook_id, subject, type, data } = delivery;
  const secret = await secretOf(sender, delivery);
  const { path } = sayingOf(delivery);
  const asks = type === 'hold.created' || type === 'hold.expiring';
  for (const [place, to] of recipientsOf(delivery.url).entries()) {
    const token = asks ? signHoldLink(secret, subject, Date.parse(String(data.expires_at))) : null;
    const link = token === null ? path : `/v1/webhooks/${webhook_id}/links/${token}`;
    const mail = mailOf(delivery, link === null ? null : public_url + link);
    await mailer.send({ ...mail, to, id: `${event_id}.${place}` });
  }
  return { response_status: null, delivered: true, error: null, gone: false };
}

/** An endpoint with the signing secret of a Slack app has no secret of its own. Slack checks no signature, so none is sent. */
function sign(secret: string, { event_id }: ClaimedDelivery, body: string): Record<string, string> {
  if (!secret.startsWith('whsec_')) return {};
  const now = new Date();
  return {
    'webhook-id': event_id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign(event_id, now, body),
  };
}

const secretOf = async ({ store, secret_keys }: Sender, { tenant, webhook_id, key_id, sealed }: ClaimedDelivery) =>
  webhook_id !== null && key_id !== null && sealed !== null
    ? openWebhookSecret(secret_keys, { tenant, webhook_id, key_id, sealed })
    : openDefaultSecret(store.db, secret_keys, tenant);

async function bodyOf(sender: Sender, delivery: ClaimedDelivery): Promise<object> {
  const { kind, type, at, data } = delivery;
  if (kind === 'slack') return slackMessage(delivery, sender.public_url, await decidableOf(sender, delivery));
  if (kind === 'teams') return teamsMessage(delivery, sender.public_url);
  return { type, timestamp: at, data: withUrls(data, sender.public_url) };
}

const redactor = createRedactor({ values: [] });

/** The hold to decide, in its current state. Null if the endpoint has no Slack users, or the hold cannot be approved. */
async function decidableOf(
  { store }: Sender,
  { tenant, type, subject, users }: ClaimedDelivery,
): Promise<Decidable | null> {
  if (!users || Object.keys(users).length === 0 || (type !== 'hold.created' && type !== 'hold.expiring')) return null;
  const hold = await getHold(store.db, tenant, subject);
  if (hold?.status !== 'pending' || hold.question) return null;
  const inputs = redactor.json(hold.inputs);
  return { hold_id: hold.hold_id, input_hash: hold.input_hash, inputs };
}

/** Replaces the paths in an event by URLs. */
function withUrls({ result_path, hold_path, ...rest }: JsonObject, public_url: string): JsonObject {
  return {
    ...rest,
    ...(typeof result_path === 'string' ? { result_url: public_url + result_path } : {}),
    ...(typeof hold_path === 'string' ? { hold_url: public_url + hold_path } : {}),
  };
}

const answerOf = async (response: Awaited<ReturnType<Egress['fetch']>>): Promise<string> => {
  const read = await response.read({ max_bytes: MAX_ANSWER_BYTES, timeout_ms: 2000 }).catch(() => null);
  return storable(read?.bytes.toString('utf8') ?? '');
};

const reasonOf = (error: unknown): string => {
  if (error instanceof Failure) return storable(`${error.kind}: ${error.message}`);
  if (error instanceof Error && error.name === 'TimeoutError') return 'no response in time';
  return storable(error instanceof Error ? error.message : String(error));
};

const storable = (text: string): string => text.slice(0, 1000).toWellFormed().replaceAll('\u0000', '\ufffd');
