import type { Backbone } from '@capstan/backbone';
import { createEgress } from '@capstan/egress';
import {
  type ClaimedDelivery,
  claimDeliveries,
  fanOutEvents,
  nextDeliveryIn,
  parseSecretKeys,
  recordDelivery,
  type SecretKeys,
  tellEnded,
} from '@capstan/store';
import { BACKSTOP, every } from '../every.js';
import { type Repeated, repeat } from '../repeat.js';
import { throttled } from '../throttled.js';
import { type Backoff, backoffAfter, DAY_OF_RETRIES } from './backoff.js';
import { type Sender, sendDelivery } from './send-delivery.js';

export type WebhookOptions = {
  secret_keys?: SecretKeys;
  allow_private?: boolean;
  public_url?: string;
  backoff?: Backoff;
};

const BATCH = 500;
const SENDERS = 32;
const SENDERS_PER_TARGET = 4;
const TIMEOUT_MS = 15_000;
/** Longer than sending can take, so that it runs out only when the sender is gone. */
const LEASE_MS = 2 * TIMEOUT_MS;
/** Results beyond this are linked to. */
const MAX_RESULT_BYTES = 64 * 1024;
/** How soon after a settlement a look is worth it: where nobody is told anything, hardly ever. */
const EAGER_MS = 20;
const IDLE_MS = 500;

/**
 * Ended invocations become events, events become deliveries, deliveries are sent: three steps, each claimed with SKIP
 * LOCKED and each safe to repeat, so that a crash anywhere repeats a delivery under its old id at worst.
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
  };
  const backoff = options.backoff ?? DAY_OF_RETRIES;
  let told_at = 0;

  const tell = async (): Promise<number> => {
    const told = await tellEnded(store, BATCH, MAX_RESULT_BYTES);
    const fanned = await fanOutEvents(store, BATCH);
    if (told > 0) told_at = Date.now();
    if (fanned > 0) send.wake();
    return told + fanned;
  };
  let next_ms: number | null = null;
  const sending = new Map<string, ClaimedDelivery>();
  const sent = new Set<Promise<void>>();
  /** Does not wait for what it sends: one that answers slowly keeps nobody else waiting. */
  const sendDue = async (): Promise<number> => {
    const limit = SENDERS - sending.size;
    const busy = busyTargets([...sending.values()]);
    next_ms = limit > 0 ? await nextDeliveryIn(store, busy) : null;
    if (next_ms !== 0) return 0;
    const claimed = await claimDeliveries(store, { limit, per_target: SENDERS_PER_TARGET, lease_ms: LEASE_MS, busy });
    for (const delivery of claimed) {
      sending.set(delivery.delivery_id, delivery);
      const one = sendOne(sender, backoff, delivery, () => telling.wake())
        .catch((error: unknown) => log.warn({ err: error }, 'a delivery is not on record; it is sent again'))
        .finally(() => {
          sending.delete(delivery.delivery_id);
          sent.delete(one);
          send.wake();
        });
      sent.add(one);
    }
    return claimed.length;
  };
  /** What has to wait for a sender is no reason to look: whoever has sent something wakes this. */
  const backstop = every(sweep_ms, BACKSTOP.due);
  const untilDue = async () => Math.min(next_ms === 0 ? sweep_ms : (next_ms ?? Infinity), await backstop());

  const send: Repeated = repeat(log, 'webhooks', sendDue, untilDue);
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
      await Promise.all(sent);
      await egress.close();
    },
  };
}

function busyTargets(sending: readonly ClaimedDelivery[]): string[] {
  const count = new Map<string, number>();
  for (const { target } of sending) count.set(target, (count.get(target) ?? 0) + 1);
  return [...count].flatMap(([target, sending]) => (sending >= SENDERS_PER_TARGET ? target : []));
}

async function sendOne(
  sender: Sender,
  backoff: Backoff,
  delivery: ClaimedDelivery,
  onDisabled: () => void,
): Promise<void> {
  const started = performance.now();
  const sent = await sendDelivery(sender, delivery);
  const state = await recordDelivery(sender.store, delivery, {
    ...sent,
    duration_ms: Math.round(performance.now() - started),
    backoff_ms: backoffAfter(delivery.attempts, backoff),
    give_up_ms: backoff.give_up_ms,
  });
  if (state === 'failed') onDisabled();
}
