import type { Principal } from '@capstan/contracts';
import { appendAudit } from '../audit/append-audit.js';
import { rewrapMcpCredentials } from '../mcp-server/mcp-credentials.js';
import type { Store } from '../open-store.js';
import { rewrapWebhookSecrets } from '../webhook/rewrap-webhook-secrets.js';
import type { SecretKeys } from './secret-keys.js';

/** Re-encrypts values that are encrypted with an older key, so that the key can be removed. Returns their number. */
export async function rewrapSecrets(store: Store, keys: SecretKeys, by: Principal): Promise<number> {
  return store.db.transaction().execute(async (db) => {
    const rows = await db
      .selectFrom('secrets')
      .select(['tenant', 'name', 'key_id', 'sealed'])
      .where('key_id', '<>', keys.key_id ?? '')
      .forUpdate()
      .execute();
    for (const row of rows) {
      await db
        .updateTable('secrets')
        .set(keys.seal(row, keys.open(row, row)))
        .where('tenant', '=', row.tenant)
        .where('name', '=', row.name)
        .execute();
    }
    const count = rows.length + (await rewrapWebhookSecrets(db, keys)) + (await rewrapMcpCredentials(db, keys));
    const { tenant, actor } = by;
    await appendAudit(db, [{ tenant, actor, event: 'secret.rewrap', subject: keys.key_id ?? '', detail: { count } }]);
    return count;
  });
}
