import { execFile, execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, constants, openSync, unlinkSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { findExecutable } from '../find-executable.js';

const { O_RDONLY, O_WRONLY, O_NONBLOCK } = constants;

/** A named pipe (FIFO). Whoever knows its name can write to it. */
export type Pipe = {
  name: string;
  reader: Socket;
  /** Kept open so that the reader sees no end of file before a writer has opened the pipe. */
  writer: number;
};

/** Created in batches, because each call of mkfifo is a process. */
const AT_ONCE = 256;
/** When so few are left, more are made in the background: on a busy machine `mkfifo` takes 40 ms, in which a run would have to wait. */
const FEW = 128;

/**
 * Creates the pipes of runs. Each is used by one run only, so a descriptor that a run keeps or passes on cannot reach the output of
 * another run. Node's own pipes are sockets, which programs cannot reopen through /dev/stdout. If tools run as another user than
 * the worker, they may only write.
 */
export const createPipes = (folder: string): (() => Pipe) => {
  const mkfifo = findExecutable('mkfifo') ?? 'mkfifo';
  const mode = process.getuid?.() === 0 ? '602' : '600';
  const made: string[] = [];
  let making = false;

  const batch = () => Array.from({ length: AT_ONCE }, () => join(folder, randomUUID()));
  const makeNow = () => {
    const names = batch();
    execFileSync(mkfifo, ['-m', mode, ...names], { stdio: 'ignore', env: {} });
    made.push(...names);
  };
  const makeMore = () => {
    if (making) return;
    making = true;
    const names = batch();
    // After a failure, the next run that finds none tries itself, and reports why.
    execFile(mkfifo, ['-m', mode, ...names], { env: {} }, (error) => {
      making = false;
      if (error === null) made.push(...names);
    }).unref();
  };

  return () => {
    if (made.length === 0) makeNow();
    const name = made.pop() ?? '';
    if (made.length < FEW) makeMore();
    const reader = new Socket({ fd: openSync(name, O_RDONLY | O_NONBLOCK), readable: true, writable: false });
    reader.on('error', () => {});
    return { name, reader, writer: openSync(name, O_WRONLY) };
  };
};

/** From now on nobody can open it. The reader sees its end when all writers are gone. */
export const closePipe = ({ name, writer }: Pipe): void => {
  closeSync(writer);
  unlinkSync(name);
};
