import type { Descriptor, JsonObject, OpenApiOptions, ToolChanges } from '@capstan/contracts';
import { hashJson } from '@capstan/integrity';
import { sql } from 'kysely';
import { appendAudit } from '../audit/append-audit.js';
import type { Db, Store } from '../open-store.js';
import { type Actor, replaceToolsIn } from '../tool/replace-tools.js';

const columns = ['name', 'document', 'document_hash', 'options', 'installed_by', 'created_at', 'updated_at'] as const;

export type OpenApiRow = Awaited<ReturnType<typeof readOpenApiDocuments>>[number];

export const readOpenApiDocuments = (db: Db) =>
  db.selectFrom('openapi_documents').select(columns).orderBy('name').execute();

export const readOpenApiDocument = (db: Db, name: string): Promise<OpenApiRow | undefined> =>
  db.selectFrom('openapi_documents').select(columns).where('name', '=', name).executeTakeFirst();

type NewDocument = { name: string; document: JsonObject; options: OpenApiOptions; descriptors: Descriptor[] };

/** Stores the document as sent, replaces an earlier one of that name, and adds its operations as tools. */
export function putOpenApiDocument(
  store: Store,
  by: Actor,
  { name, document, options, descriptors }: NewDocument,
): Promise<{ row: OpenApiRow; changes: ToolChanges }> {
  const content = {
    document: JSON.stringify(document),
    document_hash: hashJson(document),
    options: JSON.stringify(options),
    installed_by: by.actor,
  };
  return store.db.transaction().execute(async (db) => {
    const row = await db
      .insertInto('openapi_documents')
      .values({ name, ...content })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ ...content, updated_at: sql<string>`now()` }))
      .returning(columns)
      .executeTakeFirstOrThrow();
    const changes = await replaceToolsIn(db, by, { source: 'openapi', origin: name, descriptors });
    await appendAudit(db, [
      {
        tenant: by.tenant,
        actor: by.actor,
        event: 'openapi.put',
        subject: name,
        detail: { document_hash: content.document_hash },
      },
    ]);
    return { row, changes };
  });
}

/** Removes a document with its tools. Returns false if there is none. */
export function removeOpenApiDocument(store: Store, by: Actor, name: string): Promise<boolean> {
  return store.db.transaction().execute(async (db) => {
    const gone = await db.deleteFrom('openapi_documents').where('name', '=', name).returning('name').executeTakeFirst();
    if (!gone) return false;
    await replaceToolsIn(db, by, { source: 'openapi', origin: name, descriptors: [] });
    await appendAudit(db, [{ tenant: by.tenant, actor: by.actor, event: 'openapi.remove', subject: name }]);
    return true;
  });
}
