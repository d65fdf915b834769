import { createInterface } from 'node:readline';
import type { Session } from './session.js';
import { UsageError } from './usage-error.js';

/** Asks a yes-or-no question; anything but yes counts as no. Without a terminal, `--yes` is required instead. */
export const confirm = async (session: Session, question: string): Promise<boolean> => {
  const { stdin, err, signal } = session;
  if (!stdin.isTTY || !err.tty)
    throw new UsageError(`cannot ask without a terminal: ${question}`, 'Pass --yes to confirm.');
  await err.write(`${err.colors.yellow('?')} ${question} [y/N] `);
  const lines = createInterface({ input: stdin, signal });
  let answer = '';
  for await (const line of lines) {
    answer = line;
    break;
  }
  lines.close();
  signal.throwIfAborted();
  return /^y(es)?$/i.test(answer.trim());
};
