import {
  type EventType,
  HOUR_MS,
  type JsonObject,
  type Page,
  type Principal,
  type WebhookDelivery,
  type WebhookKind,
} from '@capstan/contracts';
import { sql } from 'kysely';
import { appendAudit } from '../audit/append-audit.js';
import { recordEvents } from '../event/record-events.js';
import type { Db, Store } from '../open-store.js';
import { type PageWanted, pageOf, withoutSeq } from '../page-of.js';
import { DISABLED, giveUpDeliveries } from './give-up-deliveries.js';

/** A delivery that nobody else sends until its lease ends. `attempts` is its fencing token. */
export type ClaimedDelivery = {
  delivery_id: string;
  attempts: number;
  tenant: string;
  event_id: string;
  type: EventType;
  subject: string;
  at: string;
  data: JsonObject;
  target: string;
  webhook_id: string | null;
  url: string;
  kind: WebhookKind;
  users: Record<string, string> | null;
  key_id: string | null;
  sealed: Buffer | null;
};

/**
 * Claims a few deliveries for each target, so that a slow one does not delay the others. If a sender dies, its lease ends, and another
 * process sends the same event under the same id. Due deliveries to a disabled endpoint (fanned out or redelivered at the same moment) are
 * given up, so that none waits for ever.
 */
export async function claimDeliveries(
  store: Store,
  { limit, per_target, lease_ms, busy }: { limit: number; per_target: number; lease_ms: number; busy: string[] },
): Promise<ClaimedDelivery[]> {
  const { rows } = await sql<ClaimedDelivery>`
    WITH waiting AS (
      SELECT target FROM webhook_deliveries WHERE state = 'pending' AND next_at <= now()
        AND target <> ALL (${busy}::text[]) GROUP BY target
    ), disabled AS (
      SELECT webhook_id FROM webhooks WHERE NOT enabled AND webhook_id IN (SELECT target FROM waiting)
    ), left_over AS (
      UPDATE webhook_deliveries SET state = 'failed', error = ${DISABLED}
      WHERE state = 'pending' AND delivery_id = ANY (ARRAY (
        SELECT delivery_id FROM webhook_deliveries
        WHERE target IN (SELECT webhook_id FROM disabled) AND state = 'pending' AND next_at <= now()
        FOR UPDATE SKIP LOCKED
      ))
    ), due AS (
      SELECT target FROM waiting WHERE target NOT IN (SELECT webhook_id FROM disabled)
    ), picked AS (
      SELECT one.delivery_id FROM due, LATERAL (
        SELECT delivery_id FROM webhook_deliveries
        WHERE target = due.target AND state = 'pending' AND next_at <= now()
        ORDER BY next_at LIMIT ${per_target} FOR UPDATE SKIP LOCKED
      ) one LIMIT ${limit}
    ), claimed AS (
      UPDATE webhook_deliveries SET attempts = attempts + 1, next_at = now() + ${lease_ms} * interval '1 millisecond'
      WHERE delivery_id = ANY (ARRAY (SELECT delivery_id FROM picked)) AND state = 'pending'
      RETURNING delivery_id, attempts, tenant, event_id, target, webhook_id
    )
    SELECT c.delivery_id, c.attempts, c.tenant, c.event_id, c.target, c.webhook_id, e.type, e.subject, e.at, e.data,
      coalesce(w.url, c.target) AS url, coalesce(w.kind, 'standard') AS kind, w.users, w.key_id, w.sealed
    FROM claimed c JOIN events e ON e.event_id = c.event_id LEFT JOIN webhooks w ON w.webhook_id = c.webhook_id`.execute(
    store.db,
  );
  return rows;
}

/** Time until the next delivery to a target that is not busy; null if none waits. */
export async function nextDeliveryIn(store: Store, busy: string[]): Promise<number | null> {
  const { rows } = await sql<{ in_ms: number | null }>`
    SELECT extract(epoch FROM min(next_at) - now())::float8 * 1000 AS in_ms
    FROM webhook_deliveries WHERE state = 'pending' AND target <> ALL (${busy}::text[])`.execute(store.db);
  const in_ms = rows[0]?.in_ms ?? null;
  return in_ms === null ? null : Math.max(0, in_ms);
}

export type DeliveryOutcome = {
  delivered: boolean;
  response_status: number | null;
  error: string | null;
  duration_ms: number;
  /** Delay before the next try. */
  backoff_ms: number;
  /** How long delivery is tried in total. */
  give_up_ms: number;
  /** The endpoint answered that it is gone. */
  gone: boolean;
};

/**
 * Returns the new state of the delivery, or null if another process has taken it over. A delivery that succeeded while its endpoint was
 * being disabled is recorded as delivered.
 */
export async function recordDelivery(
  store: Store,
  { delivery_id, attempts, tenant, webhook_id, url }: ClaimedDelivery,
  outcome: DeliveryOutcome,
): Promise<'delivered' | 'pending' | 'failed' | null> {
  const { delivered, response_status, error, duration_ms, backoff_ms, give_up_ms, gone } = outcome;
  return store.db.transaction().execute(async (db) => {
    // The endpoint is always locked before its deliveries; otherwise two concurrent failures could deadlock.
    if (!delivered && webhook_id !== null)
      await sql`SELECT FROM webhooks WHERE webhook_id = ${webhook_id} FOR NO KEY UPDATE`.execute(db);
    const { rows } = await sql<{ state: 'delivered' | 'pending' | 'failed'; retry_since: string }>`
      UPDATE webhook_deliveries SET
        state = CASE WHEN ${delivered}::boolean THEN 'delivered'
          WHEN ${gone}::boolean OR now() + ${backoff_ms} * interval '1 millisecond' > retry_since + ${give_up_ms} * interval '1 millisecond'
          THEN 'failed' ELSE 'pending' END,
        next_at = now() + ${backoff_ms} * interval '1 millisecond',
        delivered_at = CASE WHEN ${delivered}::boolean THEN now() END,
        response_status = ${response_status}, error = ${error}, duration_ms = ${duration_ms}
      WHERE delivery_id = ${delivery_id} AND attempts = ${attempts}
        AND (state = 'pending' OR (state = 'failed' AND ${delivered}::boolean))
      RETURNING state, retry_since`.execute(db);
    const [row] = rows;
    if (row?.state === 'failed' && webhook_id !== null) {
      // An endpoint that accepts other deliveries is not disabled for this one.
      const reason = gone ? 'it answered that it is gone' : `nothing was taken for ${inWords(give_up_ms)}: ${error}`;
      if (gone || !(await hasTaken(db, webhook_id, row.retry_since)))
        await disable(db, { tenant, webhook_id, url }, reason);
    }
    return row?.state ?? null;
  });
}

async function hasTaken(db: Db, webhook_id: string, since: string): Promise<boolean> {
  const { rows } = await sql`
    SELECT FROM webhook_deliveries WHERE webhook_id = ${webhook_id} AND state = 'delivered' AND delivered_at >= ${since} LIMIT 1`.execute(
    db,
  );
  return rows.length > 0;
}

const inWords = (ms: number): string =>
  ms >= HOUR_MS ? `${Math.round(ms / HOUR_MS)} hours` : `${Math.round(ms / 1000)} s`;

async function disable(
  db: Db,
  { tenant, webhook_id, url }: { tenant: string; webhook_id: string; url: string },
  reason: string,
) {
  const disabled = await db
    .updateTable('webhooks')
    .set({ enabled: false, disabled_reason: reason, updated_at: sql<string>`now()` })
    .where('webhook_id', '=', webhook_id)
    .where('enabled', '=', true)
    .returning('webhook_id')
    .executeTakeFirst();
  if (!disabled) return;
  await giveUpDeliveries(db, webhook_id);
  await recordEvents(db, [
    { tenant, type: 'webhook.disabled', subject: webhook_id, data: { webhook_id, url, reason } },
  ]);
  await appendAudit(db, [
    { tenant, actor: 'coordinator', event: 'webhook.disable', subject: webhook_id, detail: { reason } },
  ]);
}

const LOGGED = sql`d.delivery_id, d.webhook_id, d.event_id, e.type, e.subject, d.state, d.attempts,
  CASE WHEN d.state = 'pending' THEN d.next_at END AS next_at, d.response_status, d.error, d.duration_ms, d.created_at, d.delivered_at`;

/** The deliveries to an endpoint or, with null, to the webhook_url of invocations and runs; newest first. */
export async function listDeliveries(
  db: Db,
  tenant: string,
  webhook_id: string | null,
  page: PageWanted,
): Promise<Page<WebhookDelivery>> {
  const { rows } = await sql<WebhookDelivery & { seq: string }>`
    SELECT ${LOGGED}, d.seq FROM webhook_deliveries d JOIN events e ON e.event_id = d.event_id
    WHERE d.tenant = ${tenant} AND ${webhook_id === null ? sql`d.webhook_id IS NULL` : sql`d.webhook_id = ${webhook_id}`}
      ${page.cursor ? sql`AND d.seq < ${page.cursor}` : sql``}
    ORDER BY d.seq DESC LIMIT ${page.limit + 1}`.execute(db);
  return pageOf(rows, page.limit, withoutSeq);
}

/** Sends it again and retries for as long as a new one, even if it was delivered before. */
export async function redeliver(
  store: Store,
  { tenant, actor }: Principal,
  webhook_id: string | null,
  delivery_id: string,
): Promise<WebhookDelivery | undefined> {
  return store.db.transaction().execute(async (db) => {
    const { rows } = await sql<WebhookDelivery>`
      WITH d AS (
        UPDATE webhook_deliveries SET state = 'pending', next_at = now(), retry_since = now()
        WHERE delivery_id = ${delivery_id} AND tenant = ${tenant} AND webhook_id IS NOT DISTINCT FROM ${webhook_id}
        RETURNING *
      )
      SELECT ${LOGGED} FROM d JOIN events e ON e.event_id = d.event_id`.execute(db);
    if (rows[0]) await appendAudit(db, [{ tenant, actor, event: 'webhook.redeliver', subject: delivery_id }]);
    return rows[0];
  });
}
