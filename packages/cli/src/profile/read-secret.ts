import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { readStdin } from '../read-stdin.js';
import type { Session } from '../session.js';

/** Prompts for a secret without echoing it, or reads it from a pipe. */
export const readSecret = async (session: Session, question: string): Promise<string> => {
  const { stdin, err, signal } = session;
  if (!stdin.isTTY || !err.tty) return readStdin(session);
  await err.write(question);
  // The line editor writes nowhere, so that typed characters do not show.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: stdin, output: nowhere, terminal: true, signal });
  try {
    for await (const line of lines) return line;
    return '';
  } finally {
    lines.close();
    await err.line();
    signal.throwIfAborted();
  }
};
