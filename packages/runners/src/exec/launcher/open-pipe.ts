import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, constants, mkdirSync, openSync, unlinkSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';

const { O_RDONLY, O_WRONLY, O_NONBLOCK } = constants;

/** A real pipe with a name, by which whoever knows it writes to it. */
export type Pipe = {
  name: string;
  reader: Socket;
  /** Keeps it from ending before anybody has opened it. */
  writer: number;
};

/** Made so many at a time: it takes a process. */
const AT_ONCE = 256;

/**
 * The pipes of runs: each is used by one run only, so nothing that a run keeps of it, or hands on, reaches the output of another. What Node
 * calls a pipe is a socket, which programs cannot open again by /dev/stdout. Tools of another user than the worker's may only write.
 */
export const createPipes = (directory: string): (() => Pipe) => {
  const folder = join(directory, 'pipes');
  mkdirSync(folder, { recursive: true, mode: 0o711 });
  const mode = process.getuid?.() === 0 ? '602' : '600';
  const made: string[] = [];
  return () => {
    if (made.length === 0) {
      made.push(...Array.from({ length: AT_ONCE }, () => join(folder, randomUUID())));
      execFileSync('mkfifo', ['-m', mode, ...made], { stdio: 'ignore' });
    }
    const name = made.pop() ?? '';
    const reader = new Socket({ fd: openSync(name, O_RDONLY | O_NONBLOCK), readable: true, writable: false });
    reader.on('error', () => {});
    return { name, reader, writer: openSync(name, O_WRONLY) };
  };
};

/** Nobody else can open it from now on; it ends when those who have are gone. */
export const closePipe = ({ name, writer }: Pipe): void => {
  closeSync(writer);
  unlinkSync(name);
};
