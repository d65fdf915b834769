import { randomBytes } from 'node:crypto';
import type {
  CreatedWebhook,
  NewWebhook,
  Page,
  Principal,
  Webhook,
  WebhookChange,
  WebhookKind,
} from '@capstan/contracts';
import { sql } from 'kysely';
import { nanoid } from 'nanoid';
import { appendAudit } from '../audit/append-audit.js';
import type { Db, Store } from '../open-store.js';
import { type PageWanted, pageOf, withoutSeq } from '../page-of.js';
import type { SecretKeys } from '../secret/secret-keys.js';
import { giveUpDeliveries } from './give-up-deliveries.js';
import { defaultPlace, placeOf } from './secret-place.js';

const SHOWN = [
  'webhook_id',
  'kind',
  'url',
  'events',
  'users',
  'enabled',
  'disabled_reason',
  'created_by',
  'created_at',
  'updated_at',
] as const;

export const newWebhookSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

export async function insertWebhook(
  store: Store,
  keys: SecretKeys,
  by: Principal,
  sent: NewWebhook,
): Promise<CreatedWebhook> {
  const { tenant, actor } = by;
  const { kind, url, events, users, secret = newWebhookSecret() } = sent;
  const webhook_id = `whk_${nanoid()}`;
  const sealed = keys.seal(placeOf(tenant, webhook_id), secret);
  return store.db.transaction().execute(async (db) => {
    const webhook = await db
      .insertInto('webhooks')
      .values({
        ...{ webhook_id, tenant, kind, url, events },
        users: users === undefined ? null : JSON.stringify(users),
        ...sealed,
        created_by: actor,
      })
      .returning(SHOWN)
      .executeTakeFirstOrThrow();
    await appendAudit(db, [{ tenant, actor, event: 'webhook.create', subject: webhook_id, detail: { url, events } }]);
    return { ...webhook, secret };
  });
}

export const getWebhook = (db: Db, tenant: string, webhook_id: string): Promise<Webhook | undefined> =>
  db
    .selectFrom('webhooks')
    .select(SHOWN)
    .where('tenant', '=', tenant)
    .where('webhook_id', '=', webhook_id)
    .executeTakeFirst();

/** Newest first. */
export async function listWebhooks(db: Db, tenant: string, page: PageWanted): Promise<Page<Webhook>> {
  let query = db
    .selectFrom('webhooks')
    .select([...SHOWN, 'seq'])
    .where('tenant', '=', tenant)
    .orderBy('seq', 'desc')
    .limit(page.limit + 1);
  if (page.cursor) query = query.where('seq', '<', page.cursor);
  const rows = await query.execute();
  return pageOf(rows, page.limit, withoutSeq);
}

export async function updateWebhook(
  store: Store,
  keys: SecretKeys,
  by: Principal,
  webhook_id: string,
  { secret, ...change }: WebhookChange,
): Promise<Webhook | undefined> {
  const { tenant, actor } = by;
  const sealed = secret === undefined ? {} : keys.seal(placeOf(tenant, webhook_id), secret);
  return store.db.transaction().execute(async (db) => {
    const webhook = await db
      .updateTable('webhooks')
      .set({
        ...definedOf(change),
        ...sealed,
        ...(change.enabled === undefined ? {} : { disabled_reason: change.enabled ? null : `disabled by ${actor}` }),
        updated_at: sql<string>`now()`,
      })
      .where('tenant', '=', tenant)
      .where('webhook_id', '=', webhook_id)
      .returning(SHOWN)
      .executeTakeFirst();
    if (!webhook) return undefined;
    if (!webhook.enabled) await giveUpDeliveries(db, webhook_id);
    const changed = [...Object.keys(change), ...(secret === undefined ? [] : ['secret'])];
    await appendAudit(db, [{ tenant, actor, event: 'webhook.update', subject: webhook_id, detail: { changed } }]);
    return webhook;
  });
}

const definedOf = ({ url, events, enabled, users }: Omit<WebhookChange, 'secret'>) => ({
  ...(users === undefined ? {} : { users: JSON.stringify(users) }),
  ...(url === undefined ? {} : { url }),
  ...(events === undefined ? {} : { events }),
  ...(enabled === undefined ? {} : { enabled }),
});

/** Its log of deliveries is deleted as well. */
export async function deleteWebhook(store: Store, { tenant, actor }: Principal, webhook_id: string): Promise<boolean> {
  return store.db.transaction().execute(async (db) => {
    const { numDeletedRows } = await db
      .deleteFrom('webhooks')
      .where('tenant', '=', tenant)
      .where('webhook_id', '=', webhook_id)
      .executeTakeFirst();
    if (numDeletedRows === 0n) return false;
    await appendAudit(db, [{ tenant, actor, event: 'webhook.delete', subject: webhook_id }]);
    return true;
  });
}

/** An endpoint from which people can decide on holds: in Slack, or by a link in a mail. */
export type DecidingEndpoint = {
  webhook_id: string;
  tenant: string;
  kind: WebhookKind;
  users: Record<string, string>;
  secret: string;
};

/** Found by its id alone: the request has no API key, and its signature with the secret proves where it comes from. */
export async function findDecidingEndpoint(
  db: Db,
  keys: SecretKeys,
  webhook_id: string,
  kind: WebhookKind,
): Promise<DecidingEndpoint | undefined> {
  const row = await db
    .selectFrom('webhooks')
    .select(['webhook_id', 'tenant', 'kind', 'users', 'key_id', 'sealed'])
    .where('webhook_id', '=', webhook_id)
    .where('kind', '=', kind)
    .where('enabled', '=', true)
    .executeTakeFirst();
  return row && { ...row, users: row.users ?? {}, secret: openWebhookSecret(keys, row) };
}

/** The secret in clear text, only for signing in the coordinator. */
export const openWebhookSecret = (
  keys: SecretKeys,
  row: { tenant: string; webhook_id: string; key_id: string; sealed: Buffer },
): string => keys.open(placeOf(row.tenant, row.webhook_id), row);

/** Replaces the secret that signs deliveries to a webhook_url. The old one is no longer used. */
export async function replaceDefaultSecret(
  store: Store,
  keys: SecretKeys,
  { tenant, actor }: Principal,
): Promise<string> {
  const secret = newWebhookSecret();
  const sealed = keys.seal(defaultPlace(tenant), secret);
  await store.db.transaction().execute(async (db) => {
    await db
      .insertInto('webhook_secrets')
      .values({ tenant, ...sealed })
      .onConflict((conflict) => conflict.column('tenant').doUpdateSet({ ...sealed, created_at: sql<string>`now()` }))
      .execute();
    await appendAudit(db, [{ tenant, actor, event: 'webhook.secret', subject: tenant }]);
  });
  return secret;
}

/** Created when first needed, so that every delivery is signed. */
export async function openDefaultSecret(db: Db, keys: SecretKeys, tenant: string): Promise<string> {
  const read = () =>
    db.selectFrom('webhook_secrets').select(['key_id', 'sealed']).where('tenant', '=', tenant).executeTakeFirst();
  let row = await read();
  if (!row) {
    const sealed = keys.seal(defaultPlace(tenant), newWebhookSecret());
    await db
      .insertInto('webhook_secrets')
      .values({ tenant, ...sealed })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    row = await read();
  }
  if (!row) throw new Error(`the webhook secret of ${tenant} went away`);
  return keys.open(defaultPlace(tenant), row);
}

/** The tenants with endpoints for the ends of invocations. */
export async function tenantsWatching(db: Db): Promise<string[]> {
  const { rows } = await sql<{ tenant: string }>`
    SELECT DISTINCT tenant FROM webhooks
    WHERE enabled AND EXISTS (SELECT FROM unnest(events) AS filter
      WHERE filter = '*' OR filter LIKE 'invocation.%' OR filter LIKE 'run.%')`.execute(db);
  return rows.map(({ tenant }) => tenant);
}
