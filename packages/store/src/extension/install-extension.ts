import type { Descriptor, JsonObject, ToolChanges } from '@capstan/contracts';
import { hashJson } from '@capstan/integrity';
import { sql } from 'kysely';
import { appendAudit } from '../audit/append-audit.js';
import type { Db, Store } from '../open-store.js';
import { type Actor, replaceToolsIn } from '../tool/replace-tools.js';
import { type ExtensionRow, extensionColumns } from './read-extensions.js';

export type NewExtension = {
  extension_id: string;
  manifest: JsonObject;
  commands: JsonObject;
  usage: string | null;
  tools_hash: string | null;
  files: { name: string; sha256: string; content: Uint8Array }[];
  descriptors: Descriptor[];
};

/** Installs an extension, or replaces it by another version. A disabled one stays disabled. */
export function installExtension(
  store: Store,
  by: Actor,
  extension: NewExtension,
): Promise<{ extension: ExtensionRow; changes: ToolChanges }> {
  return store.db.transaction().execute(async (db) => {
    const row = await writeExtension(db, by, extension);
    await writeFiles(db, extension);
    await forgetFiles(db);
    const { extension_id, enabled } = row;
    const set = { source: 'extension', origin: extension_id, descriptors: extension.descriptors, enabled } as const;
    const changes = await replaceToolsIn(db, by, set);
    await appendAudit(db, [
      {
        tenant: by.tenant,
        actor: by.actor,
        event: 'extension.install',
        subject: extension_id,
        detail: { manifest_hash: hashJson(extension.manifest), tools_hash: extension.tools_hash },
      },
    ]);
    return { extension: row, changes };
  });
}

const writeExtension = (db: Db, by: Actor, extension: NewExtension): Promise<ExtensionRow> => {
  const { extension_id, usage, tools_hash } = extension;
  const content = {
    manifest: JSON.stringify(extension.manifest),
    commands: JSON.stringify(extension.commands),
    usage,
    tools_hash,
    installed_by: by.actor,
  };
  return db
    .insertInto('extensions')
    .values({ extension_id, ...content, enabled: true })
    .onConflict((conflict) =>
      conflict.column('extension_id').doUpdateSet({ ...content, updated_at: sql<string>`now()` }),
    )
    .returning(extensionColumns)
    .executeTakeFirstOrThrow();
};

async function writeFiles(db: Db, { tools_hash, files }: NewExtension): Promise<void> {
  if (tools_hash === null) return;
  for (const { name, sha256, content } of files)
    await db
      .insertInto('extension_files')
      .values({ tools_hash, name, sha256, content: Buffer.from(content) })
      .onConflict((conflict) => conflict.columns(['tools_hash', 'name']).doNothing())
      .execute();
}

/** Deletes sets of files that no extension refers to. Workers that run an older version have a copy on disk. */
export async function forgetFiles(db: Db): Promise<void> {
  await db
    .deleteFrom('extension_files')
    .where('tools_hash', 'not in', (eb) =>
      eb
        .selectFrom('extensions')
        .select('extensions.tools_hash')
        .where('extensions.tools_hash', 'is not', null)
        .$castTo<{
          tools_hash: string;
        }>(),
    )
    .execute();
}
