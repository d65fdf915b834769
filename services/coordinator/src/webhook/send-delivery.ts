import { Failure, type JsonObject } from '@capstan/contracts';
import type { Egress } from '@capstan/egress';
import {
  type ClaimedDelivery,
  openDefaultSecret,
  openWebhookSecret,
  type SecretKeys,
  type Store,
} from '@capstan/store';
import { Webhook } from 'standardwebhooks';
import { slackMessage } from './slack-message.js';

export type Sender = {
  store: Store;
  egress: Pick<Egress, 'fetch'>;
  secret_keys: SecretKeys;
  allow_private: boolean;
  public_url: string;
  timeout_ms: number;
};

export type Sent = { response_status: number | null; error: string | null; delivered: boolean; gone: boolean };

const GONE = 410;
const MAX_ANSWER_BYTES = 1024;

/** Signs and sends, through the guard. Any 2xx is a receipt; redirects are none, and are not followed. */
export async function sendDelivery(sender: Sender, delivery: ClaimedDelivery): Promise<Sent> {
  const { egress, allow_private, timeout_ms } = sender;
  try {
    const body = JSON.stringify(bodyOf(delivery, sender.public_url));
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

function sign(secret: string, { event_id }: ClaimedDelivery, body: string): Record<string, string> {
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

function bodyOf({ kind, type, at, data, subject }: ClaimedDelivery, public_url: string) {
  if (kind === 'slack') return slackMessage({ type, subject, data }, public_url);
  return { type, timestamp: at, data: withUrls(data, public_url) };
}

/** Events know paths; where those are is known here. */
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
  if (error instanceof Error && error.name === 'TimeoutError') return 'no answer in time';
  return storable(error instanceof Error ? error.message : String(error));
};

const storable = (text: string): string => text.slice(0, 1000).toWellFormed().replaceAll('\u0000', '\ufffd');
