import { addAbortSignal } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Session } from './session.js';

export const readStdin = async ({ stdin, err, signal }: Session): Promise<string> => {
  if (stdin.isTTY) await err.line(err.colors.dim('Reading from the terminal; end with Ctrl-D.'));
  return text(addAbortSignal(signal, stdin));
};
