import { sql, type Transaction } from 'kysely';
import type { Tables } from '../tables.js';

/** The owner of a session: every statement on a session has both in its WHERE clause. */
export type SessionScope = { tenant: string; session_id: string };

/** The limits of a session. */
export type SessionQuota = {
  max_file_bytes: number;
  max_session_bytes: number;
  /** Counts both files and folders. */
  max_files: number;
  max_section_bytes: number;
  max_notes_bytes: number;
};

export const DEFAULT_SESSION_QUOTA: SessionQuota = {
  max_file_bytes: 10_485_760,
  max_session_bytes: 104_857_600,
  max_files: 10_000,
  max_section_bytes: 262_144,
  max_notes_bytes: 4_194_304,
};

/** Marks the session as used and locks it until the transaction ends. */
export const lockSession = async (db: Transaction<Tables>, scope: SessionScope) => {
  const row = await db
    .insertInto('sessions')
    .values(scope)
    .onConflict((conflict) => conflict.columns(['tenant', 'session_id']).doUpdateSet({ used_at: sql<string>`now()` }))
    .returning(['files', 'size_bytes'])
    .executeTakeFirstOrThrow();
  return { files: row.files, size_bytes: Number(row.size_bytes) };
};

/** `/a`, `/a/b` for `/a/b/c.txt`. */
export const foldersAbove = (path: string): string[] => {
  const names = path.split('/').slice(1, -1);
  return names.map((_, at) => `/${names.slice(0, at + 1).join('/')}`);
};

export const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('/')) || '/';
export const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
