import { createInterface } from 'node:readline';
import type { Session } from './session.js';
import { UsageError } from './usage-error.js';

/** Asks a person; nothing but a plain yes is one. Where nobody can be asked, `--yes` must have been given. */
export const confirm = async (session: Session, question: string): Promise<boolean> => {
  const { stdin, err, signal } = session;
  if (!stdin.isTTY || !err.tty) throw new UsageError(`not done without a yes: ${question}`, 'Add --yes to mean it.');
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
