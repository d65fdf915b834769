import type { FileEncoding, SessionFile, SessionNote } from '@capstan/contracts';

/**
 * What a session keeps, bound to the tenant and the session of one call: no method takes either, so no tool can reach
 * another's. Postgres stands behind it in a worker.
 */
export type SessionPort = { files: SessionFiles; notes: SessionNotes };

/** Paths are as `toSessionPath` gives them. */
export type SessionFiles = {
  stat(path: string): Promise<SessionFile | null>;
  read(path: string): Promise<StoredContent | null>;
  /** Makes the folders above it. */
  write(path: string, content: Uint8Array, encoding: FileEncoding): Promise<Written>;
  /** The entries of a folder, by name; null when there is no such folder. */
  list(path: string, limit: number): Promise<SessionFile[] | null>;
  /** Every file that was stored as text, one after the other. */
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
