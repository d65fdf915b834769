import type { Db, Store } from '../open-store.js';

export const extensionColumns = [
  'extension_id',
  'manifest',
  'commands',
  'usage',
  'tools_hash',
  'enabled',
  'installed_by',
  'created_at',
  'updated_at',
] as const;

export type ExtensionRow = Awaited<ReturnType<typeof readExtensions>>[number];

export const readExtensions = (db: Db) =>
  db.selectFrom('extensions').select(extensionColumns).orderBy('extension_id').execute();

export const readExtension = (db: Db, extension_id: string): Promise<ExtensionRow | undefined> =>
  db.selectFrom('extensions').select(extensionColumns).where('extension_id', '=', extension_id).executeTakeFirst();

/** The usage document of an extension, for explaining the results of its tools. */
export async function readUsage(store: Store, extension_id: string): Promise<string | null> {
  const row = await store.db
    .selectFrom('extensions')
    .select('usage')
    .where('extension_id', '=', extension_id)
    .executeTakeFirst();
  return row?.usage ?? null;
}

/** The executables of an extension, by the hash of their set. */
export const readExtensionFiles = (
  store: Store,
  tools_hash: string,
): Promise<{ name: string; sha256: string; content: Buffer }[]> =>
  store.db
    .selectFrom('extension_files')
    .select(['name', 'sha256', 'content'])
    .where('tools_hash', '=', tools_hash)
    .orderBy('name')
    .execute();

/** True if an extension with this id was removed before. */
export async function wasRemoved(db: Db, extension_id: string): Promise<boolean> {
  const removal = await db
    .selectFrom('audit')
    .select('seq')
    .where('event', '=', 'extension.remove')
    .where('subject', '=', extension_id)
    .limit(1)
    .executeTakeFirst();
  return removal !== undefined;
}
