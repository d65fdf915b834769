import type { Store } from '../open-store.js';
import { lockSession, type SessionScope } from './session-scope.js';

export type SessionFileRemoved =
  | { kind: 'removed'; count: number }
  | { kind: 'refused'; why: 'absent' | 'not_empty' | 'readonly' };

/** Deletes a file, or a folder with its contents. Parent folders stay. */
export async function removeSessionFile(
  store: Store,
  scope: SessionScope,
  path: string,
  { recursive, over_readonly = false }: { recursive: boolean; over_readonly?: boolean },
): Promise<SessionFileRemoved> {
  return store.db.transaction().execute(async (db) => {
    const held = await lockSession(db, scope);
    const folder = path === '/' ? '/' : `${path}/`;
    // Everything below a folder is one range of the key, because `0` is the character after `/`.
    const found = await db
      .selectFrom('session_files')
      .select(['path', 'is_readonly', 'size_bytes'])
      .where('tenant', '=', scope.tenant)
      .where('session_id', '=', scope.session_id)
      .where((where) =>
        where.or([
          where('path', '=', path),
          where.and([where('path', '>', folder), where('path', '<', `${folder.slice(0, -1)}0`)]),
        ]),
      )
      .execute();
    if (found.length === 0) return { kind: 'refused', why: 'absent' };
    if (!recursive && found.some((entry) => entry.path !== path)) return { kind: 'refused', why: 'not_empty' };
    if (!over_readonly && found.some((entry) => entry.is_readonly)) return { kind: 'refused', why: 'readonly' };

    const paths = found.map((entry) => entry.path);
    for (let from = 0; from < paths.length; from += MAX_PARAMETERS)
      await db
        .deleteFrom('session_files')
        .where('tenant', '=', scope.tenant)
        .where('session_id', '=', scope.session_id)
        .where('path', 'in', paths.slice(from, from + MAX_PARAMETERS))
        .execute();
    const freed = found.reduce((sum, entry) => sum + entry.size_bytes, 0);
    await db
      .updateTable('sessions')
      .set({ files: held.files - found.length, size_bytes: held.size_bytes - freed })
      .where('tenant', '=', scope.tenant)
      .where('session_id', '=', scope.session_id)
      .execute();
    return { kind: 'removed', count: found.length };
  });
}

const MAX_PARAMETERS = 10_000;
