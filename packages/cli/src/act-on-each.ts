import { EXIT, type ExitCode } from './exit-code.js';
import { reportError } from './report-error.js';
import { resolveId } from './resolve-id.js';
import type { Session } from './session.js';

/** Applies an action to several things. If one is refused, it is reported and the rest continue. */
export const actOnEach = async <Item>(
  session: Session,
  ids: readonly string[],
  act: (id: string) => Promise<Item>,
  format: (item: Item, id: string) => string,
  resolve: typeof resolveId = resolveId,
): Promise<ExitCode> => {
  let exit: ExitCode = EXIT.success;
  for (const given of ids) {
    try {
      session.signal.throwIfAborted();
      const id = await resolve(session, given);
      const item = await act(id);
      if (session.json) await session.printJson(item);
      else await session.out.line(format(item, id));
    } catch (error) {
      if (session.signal.aborted) throw error;
      if (ids.length > 1 && !session.json) await session.err.line(`${given}:`);
      exit = await reportError(error, session);
    }
  }
  return exit;
};
