import type { Db } from '../open-store.js';
import type { SecretKeys } from '../secret/secret-keys.js';
import { defaultPlace, placeOf } from './secret-place.js';

/** Re-encrypts webhook secrets that are encrypted with an older key. Returns their number. */
export async function rewrapWebhookSecrets(db: Db, keys: SecretKeys): Promise<number> {
  const first = keys.key_id ?? '';
  const endpoints = await db
    .selectFrom('webhooks')
    .select(['tenant', 'webhook_id', 'key_id', 'sealed'])
    .where('key_id', '<>', first)
    .forUpdate()
    .execute();
  for (const row of endpoints) {
    const place = placeOf(row.tenant, row.webhook_id);
    const sealed = keys.seal(place, keys.open(place, row));
    await db.updateTable('webhooks').set(sealed).where('webhook_id', '=', row.webhook_id).execute();
  }
  const tenants = await db
    .selectFrom('webhook_secrets')
    .select(['tenant', 'key_id', 'sealed'])
    .where('key_id', '<>', first)
    .forUpdate()
    .execute();
  for (const row of tenants) {
    const place = defaultPlace(row.tenant);
    const sealed = keys.seal(place, keys.open(place, row));
    await db.updateTable('webhook_secrets').set(sealed).where('tenant', '=', row.tenant).execute();
  }
  return endpoints.length + tenants.length;
}
