import type { FileEncoding, SessionFile, SessionNote } from '@capstan/contracts';

/**
 * The data of a session, bound to the tenant and session of one call. No method takes either as an argument, so no tool can reach
 * another session. In a worker it is stored in Postgres.
 */
export type SessionPort = { files: SessionFiles; notes: SessionNotes };

/** Paths are in the form that `toSessionPath` returns. */
export type SessionFiles = {
  stat(path: string): Promise<SessionFile | null>;
  read(path: string): Promise<StoredContent | null>;
  /** Creates missing parent folders. */
  write(path: string, content: Uint8Array, encoding: FileEncoding): Promise<Written>;
  /** The entries of a folder, sorted by name. Null if there is no such folder. */
  list(path: string, limit: number): Promise<SessionFile[] | null>;
  /** All files that were stored as text, one at a time. */
  texts(): AsyncIterable<{ path: string; content: Uint8Array }>;
  remove(path: string, recursive: boolean): Promise<Removed>;
};

export type StoredContent = SessionFile & { content: Uint8Array; encoding: FileEncoding };

export type Written =
  | { kind: 'written'; created: boolean }
  | { kind: 'refused'; why: 'not_a_directory' | 'is_a_directory' | 'readonly' }
  | { kind: 'full'; limit: 'file' | 'session' | 'count'; max: number };

export type Removed =
  | { kind: 'removed'; count: number }
  | { kind: 'refused'; why: 'absent' | 'not_empty' | 'readonly' };

export type SessionNotes = {
  write(section: string, content: string, mode: 'replace' | 'append'): Promise<NoteWritten>;
  read(section: string | null): Promise<SessionNote[]>;
  clear(section: string | null): Promise<number>;
};

export type NoteWritten =
  | { kind: 'written'; size_bytes: number }
  | { kind: 'full'; limit: 'section' | 'session'; max: number };
