import type { FileHandle } from 'node:fs/promises';

/**
 * Opens files below a root, and nothing outside of it, even if links exist there or are moved meanwhile. `admit` is called with the real path,
 * without links, before anything is read, written or created. It throws to refuse.
 */
export type Workspace = {
  open(path: string, admit: Admit): Promise<Opened>;
  /** Atomic: readers see either the old or the new content. */
  write(path: string, content: Uint8Array, admit: Admit): Promise<WrittenFile>;
};

export type Admit = (real: string) => void;
/** `real` is relative to the root. The caller closes the handle. */
export type Opened = { handle: FileHandle; real: string };
export type WrittenFile = { real: string; created: boolean };
