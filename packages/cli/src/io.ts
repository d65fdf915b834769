import type { Readable, Writable } from 'node:stream';

export type OutputStream = Writable & { isTTY?: boolean; columns?: number; rows?: number };
export type InputStream = Readable & { isTTY?: boolean };

/** All that the command touches of its process, so that a test can stand in for each. */
export type Io = {
  stdin: InputStream;
  stdout: OutputStream;
  stderr: OutputStream;
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  now(): Date;
  /** Called before the client is loaded: here a process that only asks can prepare for being short-lived. */
  beforeConnecting?(): void;
  /** Calls the listener on the first Ctrl-C; the answer takes it back. */
  onInterrupt(listener: () => void): () => void;
};
