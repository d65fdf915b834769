import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { addAbortSignal } from 'node:stream';
import { cannotRead } from '../cannot-read.js';
import type { Session } from '../session.js';

export type Source = {
  chunks: AsyncIterable<string>;
  /** In bytes; null when the end is not known. */
  size: number | null;
};

/** A file, or stdin for `-`. */
export const openSource = async (session: Session, file: string): Promise<Source> => {
  if (file === '-') {
    session.stdin.setEncoding('utf8');
    if (session.stdin.isTTY)
      await session.err.line(session.err.colors.dim('Reading from the terminal; end with Ctrl-D.'));
    return { chunks: addAbortSignal(session.signal, session.stdin), size: null };
  }
  const path = resolve(session.cwd, file);
  const size = await sizeOf(path, file);
  const stream = createReadStream(path, { encoding: 'utf8', highWaterMark: 256 * 1024 });
  return { chunks: stream, size: size === 0 ? null : size };
};

/** Opens the file before anything is sent, so that a wrong name fails first. A pipe has size 0. */
const sizeOf = async (path: string, file: string): Promise<number> => {
  try {
    const handle = await open(path, 'r');
    try {
      const stats = await handle.stat();
      if (stats.isDirectory()) throw new Error('it is a directory');
      return stats.isFile() ? stats.size : 0;
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw cannotRead(file, error, 'Pass a file, or - for stdin.');
  }
};
