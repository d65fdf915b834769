import type { FileEncoding, SessionFile } from '@capstan/contracts';
import { sql } from 'kysely';
import type { Db } from '../open-store.js';
import { nameOf, type SessionScope } from './session-scope.js';

const columns = ['path', 'is_directory', 'is_readonly', 'size_bytes', 'created_at', 'updated_at'] as const;

const within = (db: Db, { tenant, session_id }: SessionScope) =>
  db.selectFrom('session_files').where('tenant', '=', tenant).where('session_id', '=', session_id);

const toFile = <Row extends { path: string }>(row: Row) => ({ ...row, name: nameOf(row.path) });

/** `/` exists as soon as the session does. */
export async function statSessionFile(db: Db, scope: SessionScope, path: string): Promise<SessionFile | null> {
  if (path === '/') return rootOf(db, scope);
  const row = await within(db, scope).select(columns).where('path', '=', path).executeTakeFirst();
  return row ? toFile(row) : null;
}

async function rootOf(db: Db, { tenant, session_id }: SessionScope): Promise<SessionFile> {
  const session = await db
    .selectFrom('sessions')
    .select(['created_at', 'used_at'])
    .where('tenant', '=', tenant)
    .where('session_id', '=', session_id)
    .executeTakeFirst();
  const now = new Date().toISOString();
  return {
    path: '/',
    name: '',
    is_directory: true,
    is_readonly: false,
    size_bytes: 0,
    created_at: session?.created_at ?? now,
    updated_at: session?.used_at ?? now,
  };
}

export type StoredSessionFile = SessionFile & { content: Uint8Array; encoding: FileEncoding };

export async function readSessionFile(db: Db, scope: SessionScope, path: string): Promise<StoredSessionFile | null> {
  const row = await within(db, scope)
    .select([...columns, 'content', 'encoding'])
    .where('path', '=', path)
    .executeTakeFirst();
  if (row) return { ...toFile(row), content: row.content ?? Buffer.alloc(0) };
  return path === '/' ? { ...(await rootOf(db, scope)), content: Buffer.alloc(0), encoding: 'text' } : null;
}

/** The entries of a folder, by name; null if there is no such folder. */
export async function listSessionFiles(
  db: Db,
  scope: SessionScope,
  path: string,
  { limit, after = '' }: { limit: number; after?: string },
): Promise<SessionFile[] | null> {
  const rows = await within(db, scope)
    .select(columns)
    .where('parent', '=', path)
    .where('path', '>', after)
    .orderBy('path')
    .limit(limit)
    .execute();
  if (rows.length > 0 || path === '/') return rows.map(toFile);
  const folder = await statSessionFile(db, scope, path);
  return folder?.is_directory ? [] : null;
}

/** The maximum size of files in memory at once while all are read. */
const BATCH_BYTES = 4_194_304;
const BATCH_FILES = 200;

/** All files that were stored as text. Files that are deleted meanwhile are skipped. */
export async function* textsOfSession(
  db: Db,
  scope: SessionScope,
): AsyncGenerator<{ path: string; content: Uint8Array }> {
  const files = await within(db, scope)
    .select(['path', 'size_bytes'])
    .where('is_directory', '=', false)
    .where('encoding', '=', 'text')
    .orderBy('path')
    .execute();
  for (const paths of inBatches(files)) {
    const rows = await within(db, scope)
      .select(['path', 'content'])
      .where('path', '=', sql<string>`ANY (${paths})`)
      .orderBy('path')
      .execute();
    for (const { path, content } of rows) if (content) yield { path, content };
  }
}

function* inBatches(files: { path: string; size_bytes: number }[]): Generator<string[]> {
  let paths: string[] = [];
  let bytes = 0;
  for (const { path, size_bytes } of files) {
    if (paths.length > 0 && (paths.length >= BATCH_FILES || bytes + size_bytes > BATCH_BYTES)) {
      yield paths;
      paths = [];
      bytes = 0;
    }
    paths.push(path);
    bytes += size_bytes;
  }
  if (paths.length > 0) yield paths;
}
