import type { Session } from './session.js';

/** Reports what a command has done: the changed record as JSON, or a line with a check mark. */
export const printDone = async (session: Session, record: unknown, text: string): Promise<void> => {
  const { out } = session;
  if (session.json) await session.printJson(record);
  else await out.line(`${out.colors.green('✓')} ${text}`);
};
