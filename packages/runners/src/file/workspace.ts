import type { FileHandle } from 'node:fs/promises';

/**
 * Opens files under a root and nothing outside of it, whatever links are there and whoever moves them meanwhile.
 *
 * `admit` is asked about the path as it really is, without links, before anything is read, written or made there; it throws.
 */
export type Workspace = {
  open(path: string, admit: Admit): Promise<Opened>;
  /** In one step: whoever reads the file sees the old content or the new. */
  write(path: string, content: Uint8Array, admit: Admit): Promise<WrittenFile>;
};

export type Admit = (real: string) => void;
/** `real` is relative to the root. The handle is the caller's to close. */
export type Opened = { handle: FileHandle; real: string };
export type WrittenFile = { real: string; created: boolean };
