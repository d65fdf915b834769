import type { SessionNote } from '@capstan/contracts';
import { sql } from 'kysely';
import type { Db, Store } from '../open-store.js';
import { DEFAULT_SESSION_QUOTA, lockSession, type SessionQuota, type SessionScope } from './session-scope.js';

export type NoteWrite = { section: string; content: string; mode: 'replace' | 'append' };
export type SessionNoteWritten =
  | { kind: 'written'; size_bytes: number }
  | { kind: 'full'; limit: 'section' | 'session'; max: number };

export async function writeNote(
  store: Store,
  scope: SessionScope,
  { section, content, mode }: NoteWrite,
  quota: SessionQuota = DEFAULT_SESSION_QUOTA,
): Promise<SessionNoteWritten> {
  return store.db.transaction().execute(async (db) => {
    await lockSession(db, scope);
    const sizes = await db
      .selectFrom('scratchpad')
      .select(['section', sql<number>`octet_length(content)`.as('size')])
      .where('tenant', '=', scope.tenant)
      .where('session_id', '=', scope.session_id)
      .execute();
    const added = Buffer.from(content);
    const before = sizes.find((note) => note.section === section)?.size ?? 0;
    const size_bytes = added.length + (mode === 'append' ? before : 0);
    const total = sizes.reduce((sum, note) => sum + note.size, 0) - before + size_bytes;
    if (size_bytes > quota.max_section_bytes) return { kind: 'full', limit: 'section', max: quota.max_section_bytes };
    if (total > quota.max_notes_bytes) return { kind: 'full', limit: 'session', max: quota.max_notes_bytes };
    await db
      .insertInto('scratchpad')
      .values({ ...scope, section, content: added })
      .onConflict((conflict) =>
        conflict.columns(['tenant', 'session_id', 'section']).doUpdateSet({
          content: mode === 'append' ? sql<Buffer>`scratchpad.content || excluded.content` : added,
          updated_at: sql<string>`now()`,
        }),
      )
      .execute();
    return { kind: 'written', size_bytes };
  });
}

/** In the order in which the sections were created. `null` reads all of them. */
export async function readNotes(
  db: Db,
  { tenant, session_id }: SessionScope,
  section: string | null,
): Promise<SessionNote[]> {
  let query = db
    .selectFrom('scratchpad')
    .select(['section', 'content', 'updated_at'])
    .where('tenant', '=', tenant)
    .where('session_id', '=', session_id)
    .orderBy('seq');
  if (section !== null) query = query.where('section', '=', section);
  const rows = await query.execute();
  return rows.map(({ content, ...note }) => ({ ...note, content: content.toString('utf8') }));
}

export async function clearNotes(
  db: Db,
  { tenant, session_id }: SessionScope,
  section: string | null,
): Promise<number> {
  let query = db.deleteFrom('scratchpad').where('tenant', '=', tenant).where('session_id', '=', session_id);
  if (section !== null) query = query.where('section', '=', section);
  const { numDeletedRows } = await query.executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}
