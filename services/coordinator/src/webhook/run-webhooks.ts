import type { Backbone } from '@capstan/backbone';
import { createEgress } from '@capstan/egress';
import { fanOutEvents, tellEnded } from '@capstan/store/event';
import { parseSecretKeys, type SecretKeys } from '@capstan/store/secret';
import { BACKSTOP, every } from '../every.js';
import { type Repeated, repeat } from '../repeat.js';
import { throttled } from '../throttled.js';
import { type Backoff, DAY_OF_RETRIES } from './backoff.js';
import { createMailer, type MailSettings } from './mailer.js';
import type { Sender } from './send-delivery.js';
import { Senders } from './senders.js';

export type WebhookOptions = {
  secret_keys?: SecretKeys;
  allow_private?: boolean;
  public_url?: string;
  backoff?: Backoff;
  mail?: MailSettings;
};

const BATCH = 500;
const TIMEOUT_MS = 15_000;
/** Longer than a delivery can take, so that it expires only if the sender died. */
const LEASE_MS = 2 * TIMEOUT_MS;
/** Larger results are linked instead of included. */
const MAX_RESULT_BYTES = 64 * 1024;
/** How soon to look for events after a call ends. */
const EAGER_MS = 20;
/** The same while no call is watched and no event was written lately. */
const IDLE_MS = 500;

/**
 * Turns ended invocations into events, events into deliveries, and sends the deliveries. Each of the three steps claims its rows
 * with SKIP LOCKED and is safe to repeat, so at worst a crash repeats a delivery with the same id.
 */
export function runWebhooks(backbone: Backbone, sweep_ms: number, options: WebhookOptions): Repeated {
  const { store, relay, log, rules } = backbone;
  const egress = createEgress();
  const sender: Sender = {
    store,
    egress,
    secret_keys: options.secret_keys ?? parseSecretKeys(undefined),
    allow_private: options.allow_private ?? false,
    public_url: (options.public_url ?? 'http://127.0.0.1:7070').replace(/\/+$/, ''),
    timeout_ms: TIMEOUT_MS,
    mailer: createMailer(options.mail ?? {}),
  };
  let told_at = 0;

  const tell = async (): Promise<number> => {
    const told = await tellEnded(store, BATCH, MAX_RESULT_BYTES);
    const fanned = await fanOutEvents(store, BATCH);
    if (told > 0) told_at = Date.now();
    if (fanned > 0) send.wake();
    return told + fanned;
  };
  const senders = new Senders({
    ...{ sender, log, backoff: options.backoff ?? DAY_OF_RETRIES, lease_ms: LEASE_MS },
    onFree: () => send.wake(),
    onGivenUp: () => telling.wake(),
  });
  /** Does not poll for deliveries that wait for a free sender: each finished delivery wakes this duty. */
  const backstop = every(sweep_ms, BACKSTOP.due);
  const untilDue = async () => {
    const { next_ms } = senders;
    return Math.min(next_ms === 0 ? sweep_ms : (next_ms ?? Infinity), await backstop());
  };

  const send: Repeated = repeat(log, 'webhooks', () => senders.sendDue(), untilDue);
  const often = every(sweep_ms, BACKSTOP.left_behind);
  const seldom = every(sweep_ms, BACKSTOP.told);
  const telling: Repeated = repeat(log, 'events', tell, () => (rules.anyWatched() ? often() : seldom()));
  const soon = throttled(telling.wake, () =>
    rules.anyWatched() || Date.now() - told_at < 10_000 ? EAGER_MS : IDLE_MS,
  );
  const unsubscribe = [
    relay.subscribe('followed', soon.call),
    relay.subscribe(
      'due',
      (ids) => {
        if (ids.includes('events') || ids.some((id) => id.startsWith('hld_'))) telling.wake();
        if (ids.includes('deliveries')) send.wake();
      },
      () => {
        telling.wake();
        send.wake();
      },
    ),
  ];
  return {
    wake: telling.wake,
    stop: async () => {
      soon.stop();
      for (const off of unsubscribe) off();
      await Promise.all([telling, send].map((duty) => duty.stop()));
      await senders.idle();
      sender.mailer.close();
      await egress.close();
    },
  };
}
