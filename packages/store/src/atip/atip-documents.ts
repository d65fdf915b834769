import type { Descriptor, JsonObject, ToolChanges } from '@capstan/contracts';
import { hashJson } from '@capstan/integrity';
import { sql } from 'kysely';
import { appendAudit } from '../audit/append-audit.js';
import type { Db, Store } from '../open-store.js';
import { type Actor, replaceToolsIn } from '../tool/replace-tools.js';

const columns = ['name', 'document', 'document_hash', 'installed_by', 'created_at', 'updated_at'] as const;

export type AtipRow = Awaited<ReturnType<typeof readAtipDocuments>>[number];

export const readAtipDocuments = (db: Db) => db.selectFrom('atip_documents').select(columns).orderBy('name').execute();

export const readAtipDocument = (db: Db, name: string): Promise<AtipRow | undefined> =>
  db.selectFrom('atip_documents').select(columns).where('name', '=', name).executeTakeFirst();

/** Stores the document as sent, replaces an earlier one of that name, and adds its commands as tools. */
export function putAtipDocument(
  store: Store,
  by: Actor,
  { name, document, descriptors }: { name: string; document: JsonObject; descriptors: Descriptor[] },
): Promise<{ row: AtipRow; changes: ToolChanges }> {
  const content = { document: JSON.stringify(document), document_hash: hashJson(document), installed_by: by.actor };
  return store.db.transaction().execute(async (db) => {
    const row = await db
      .insertInto('atip_documents')
      .values({ name, ...content })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ ...content, updated_at: sql<string>`now()` }))
      .returning(columns)
      .executeTakeFirstOrThrow();
    const changes = await replaceToolsIn(db, by, { source: 'atip', origin: name, descriptors });
    await appendAudit(db, [
      {
        tenant: by.tenant,
        actor: by.actor,
        event: 'atip.put',
        subject: name,
        detail: { document_hash: content.document_hash },
      },
    ]);
    return { row, changes };
  });
}

/** Removes a document with its tools. Returns false if there is none. */
export function removeAtipDocument(store: Store, by: Actor, name: string): Promise<boolean> {
  return store.db.transaction().execute(async (db) => {
    const gone = await db.deleteFrom('atip_documents').where('name', '=', name).returning('name').executeTakeFirst();
    if (!gone) return false;
    await replaceToolsIn(db, by, { source: 'atip', origin: name, descriptors: [] });
    await appendAudit(db, [{ tenant: by.tenant, actor: by.actor, event: 'atip.remove', subject: name }]);
    return true;
  });
}
