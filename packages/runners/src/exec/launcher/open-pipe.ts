import { execFileSync } from 'node:child_process';
import { chownSync, closeSync, constants, openSync, unlinkSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import type { Identity } from '../../sandbox/sandbox.js';

const { O_RDONLY, O_WRONLY, O_NONBLOCK } = constants;

/** A real pipe: the end to read from, and a descriptor of the other end, for a child. */
export type Pipe = { reader: Socket; writer: number };

/**
 * What Node calls a pipe is a socket, which everybody who has it can change for all others: shut it down, set its timeouts.
 * A real one can be opened anew for each run through /proc/self/fd, so that no run has what the next one gets.
 */
export const openPipes = (directory: string, identity: Identity, count: number): Pipe[] => {
  const names = Array.from({ length: count }, () => join(directory, `pipe-${process.hrtime.bigint()}`));
  execFileSync('mkfifo', ['-m', '600', ...names], { stdio: 'ignore' });
  return names.map((name) => {
    try {
      if (identity) chownSync(name, identity.uid, identity.gid);
      const reader = new Socket({ fd: openSync(name, O_RDONLY | O_NONBLOCK), readable: true, writable: false });
      return { reader, writer: openSync(name, O_WRONLY) };
    } finally {
      // It lives on in its descriptors.
      unlinkSync(name);
    }
  });
};

export const closeWriters = (pipes: readonly Pipe[]): void => {
  for (const { writer } of pipes) closeSync(writer);
};
