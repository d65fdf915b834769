import { sql } from 'kysely';
import { appendAudit } from '../audit/append-audit.js';
import type { Store } from '../open-store.js';
import { type Actor, replaceToolsIn } from '../tool/replace-tools.js';
import { forgetFiles } from './install-extension.js';
import { type ExtensionRow, extensionColumns } from './read-extensions.js';

/** Enables or disables an extension and all of its tools. Undefined if there is none. */
export function enableExtension(
  store: Store,
  by: Actor,
  extension_id: string,
  enabled: boolean,
): Promise<ExtensionRow | undefined> {
  return store.db.transaction().execute(async (db) => {
    const row = await db
      .updateTable('extensions')
      .set({ enabled, updated_at: sql<string>`now()` })
      .where('extension_id', '=', extension_id)
      .returning(extensionColumns)
      .executeTakeFirst();
    if (!row) return undefined;
    await db
      .updateTable('tools')
      .set({ enabled })
      .where('source', '=', 'extension')
      .where('origin', '=', extension_id)
      .execute();
    const event = enabled ? 'extension.enable' : 'extension.disable';
    await appendAudit(db, [{ tenant: by.tenant, actor: by.actor, event, subject: extension_id }]);
    return row;
  });
}

/** Removes an extension with its tools and files. Returns false if there is none. */
export function removeExtension(store: Store, by: Actor, extension_id: string): Promise<boolean> {
  return store.db.transaction().execute(async (db) => {
    const gone = await db
      .deleteFrom('extensions')
      .where('extension_id', '=', extension_id)
      .returning('extension_id')
      .executeTakeFirst();
    if (!gone) return false;
    await forgetFiles(db);
    await replaceToolsIn(db, by, { source: 'extension', origin: extension_id, descriptors: [] });
    await appendAudit(db, [{ tenant: by.tenant, actor: by.actor, event: 'extension.remove', subject: extension_id }]);
    return true;
  });
}
