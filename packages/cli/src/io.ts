import type { Readable, Writable } from 'node:stream';

export type OutputStream = Writable & { isTTY?: boolean; columns?: number; rows?: number };
export type InputStream = Readable & { isTTY?: boolean };

/** Everything the command uses of its process, so that tests can replace it. */
export type Io = {
  stdin: InputStream;
  stdout: OutputStream;
  stderr: OutputStream;
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  now(): Date;
  /** Called before the client is loaded, to tune a short-lived process. */
  beforeConnecting?(): void;
  /** Calls the listener on the first Ctrl-C. Returns a function that removes it. */
  onInterrupt(listener: () => void): () => void;
};
