import { EXIT, type ExitCode } from './exit-code.js';
import { type AnyStatus, formatStatus } from './format/status.js';
import { reportError } from './report-error.js';
import type { Session } from './session.js';

/** Does the same to several invocations or runs. One that is refused is named and the rest go on. */
export const actOnEach = async <Item extends { status: AnyStatus }>(
  session: Session,
  ids: readonly string[],
  act: (id: string) => Promise<Item>,
  noteOf: (item: Item) => string = () => '',
): Promise<ExitCode> => {
  const { colors } = session.out;
  let exit: ExitCode = EXIT.success;
  for (const id of ids) {
    try {
      session.signal.throwIfAborted();
      const item = await act(id);
      if (session.json) await session.printJson(item);
      else await session.out.line(`${formatStatus(item.status, colors)}  ${id}  ${colors.dim(noteOf(item))}`.trimEnd());
    } catch (error) {
      if (session.signal.aborted) throw error;
      if (ids.length > 1 && !session.json) await session.err.line(`${id}:`);
      exit = await reportError(error, session);
    }
  }
  return exit;
};
