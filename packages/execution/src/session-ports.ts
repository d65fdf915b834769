import type { SessionFiles, SessionNotes, SessionPort } from '@capstan/runners';
import type { Store } from '@capstan/store';
import type { Claimed } from '@capstan/store/claim';
import {
  clearNotes,
  listSessionFiles,
  readNotes,
  readSessionFile,
  removeSessionFile,
  type SessionScope,
  statSessionFile,
  textsOfSession,
  writeNote,
  writeSessionFile,
} from '@capstan/store/session';

/** The session of a call, in Postgres. Tenant and session id are bound, so a tool cannot access another session. */
export const createSessionPorts =
  (store: Store) =>
  ({ tenant, session_id }: Pick<Claimed, 'tenant' | 'session_id'>): SessionPort | null => {
    if (session_id === null) return null;
    const scope = { tenant, session_id };
    return { files: filesOf(store, scope), notes: notesOf(store, scope) };
  };

const filesOf = (store: Store, scope: SessionScope): SessionFiles => ({
  stat: (path) => statSessionFile(store.db, scope, path),
  read: (path) => readSessionFile(store.db, scope, path),
  write: (path, content, encoding) => writeSessionFile(store, scope, { path, content, encoding }),
  list: (path, limit) => listSessionFiles(store.db, scope, path, { limit }),
  texts: () => textsOfSession(store.db, scope),
  remove: (path, recursive) => removeSessionFile(store, scope, path, { recursive }),
});

const notesOf = (store: Store, scope: SessionScope): SessionNotes => ({
  write: (section, content, mode) => writeNote(store, scope, { section, content, mode }),
  read: (section) => readNotes(store.db, scope, section),
  clear: (section) => clearNotes(store.db, scope, section),
});
