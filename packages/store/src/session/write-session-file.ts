import type { FileEncoding } from '@capstan/contracts';
import { sql, type Transaction } from 'kysely';
import type { Store } from '../open-store.js';
import type { Tables } from '../tables.js';
import {
  DEFAULT_SESSION_QUOTA,
  foldersAbove,
  lockSession,
  parentOf,
  type SessionQuota,
  type SessionScope,
} from './session-scope.js';

export type SessionFileWrite = {
  path: string;
  content: Uint8Array;
  encoding: FileEncoding;
  is_readonly?: boolean;
  /** People may replace files that are read-only for tools. */
  over_readonly?: boolean;
};

export type SessionFileWritten =
  | { kind: 'written'; created: boolean }
  | { kind: 'refused'; why: 'not_a_directory' | 'is_a_directory' | 'readonly' }
  | { kind: 'full'; limit: 'file' | 'session' | 'count'; max: number };

/** Creates or replaces a file and the folders above it, within the session's quota. */
export async function writeSessionFile(
  store: Store,
  scope: SessionScope,
  file: SessionFileWrite,
  quota: SessionQuota = DEFAULT_SESSION_QUOTA,
): Promise<SessionFileWritten> {
  if (file.path === '/') return { kind: 'refused', why: 'is_a_directory' };
  if (file.content.length > quota.max_file_bytes) return { kind: 'full', limit: 'file', max: quota.max_file_bytes };
  return store.db.transaction().execute(async (db) => {
    const held = await lockSession(db, scope);
    const above = foldersAbove(file.path);
    const there = new Map((await entriesAt(db, scope, [...above, file.path])).map((entry) => [entry.path, entry]));
    const before = there.get(file.path);
    const folders = above.filter((path) => !there.has(path));
    if (above.some((path) => there.get(path)?.is_directory === false))
      return { kind: 'refused', why: 'not_a_directory' };
    if (before?.is_directory) return { kind: 'refused', why: 'is_a_directory' };
    if (before?.is_readonly && !file.over_readonly) return { kind: 'refused', why: 'readonly' };

    const files = held.files + folders.length + (before ? 0 : 1);
    const size_bytes = held.size_bytes - (before?.size_bytes ?? 0) + file.content.length;
    if (files > quota.max_files) return { kind: 'full', limit: 'count', max: quota.max_files };
    if (size_bytes > quota.max_session_bytes) return { kind: 'full', limit: 'session', max: quota.max_session_bytes };

    await insertFolders(db, scope, folders);
    await upsertFile(db, scope, file);
    await db
      .updateTable('sessions')
      .set({ files, size_bytes })
      .where('tenant', '=', scope.tenant)
      .where('session_id', '=', scope.session_id)
      .execute();
    return { kind: 'written', created: !before };
  });
}

const entriesAt = (db: Transaction<Tables>, { tenant, session_id }: SessionScope, paths: string[]) =>
  db
    .selectFrom('session_files')
    .select(['path', 'is_directory', 'is_readonly', 'size_bytes'])
    .where('tenant', '=', tenant)
    .where('session_id', '=', session_id)
    .where('path', '=', sql<string>`ANY (${paths})`)
    .execute();

async function insertFolders(db: Transaction<Tables>, scope: SessionScope, folders: string[]): Promise<void> {
  if (folders.length === 0) return;
  const rows = folders.map((path) => ({ ...scope, path, parent: parentOf(path), is_directory: true }));
  await db.insertInto('session_files').values(rows).execute();
}

async function upsertFile(db: Transaction<Tables>, scope: SessionScope, file: SessionFileWrite): Promise<void> {
  const { path, encoding, is_readonly = false } = file;
  const content = Buffer.from(file.content);
  const kept = { content, encoding, is_readonly, size_bytes: content.length };
  await db
    .insertInto('session_files')
    .values({ ...scope, path, parent: parentOf(path), is_directory: false, ...kept })
    .onConflict((conflict) =>
      conflict.columns(['tenant', 'session_id', 'path']).doUpdateSet({ ...kept, updated_at: sql<string>`now()` }),
    )
    .execute();
}
