import type { Invocation } from '@capstan/contracts';
import { EXIT, type ExitCode } from './exit-code.js';
import { formatStatus } from './format/status.js';
import { reportError } from './report-error.js';
import type { Session } from './session.js';

/** Does the same to several invocations. One that is refused is named and the rest go on. */
export const actOnEach = async (
  session: Session,
  ids: readonly string[],
  act: (invocation_id: string) => Promise<Invocation>,
  noteOf: (invocation: Invocation) => string = () => '',
): Promise<ExitCode> => {
  let exit: ExitCode = EXIT.success;
  for (const id of ids) {
    try {
      session.signal.throwIfAborted();
      const invocation = await act(id);
      if (session.json) await session.printJson(invocation);
      else await session.out.line(describe(session, invocation, noteOf(invocation)));
    } catch (error) {
      if (session.signal.aborted) throw error;
      if (ids.length > 1 && !session.json) await session.err.line(`${id}:`);
      exit = await reportError(error, session);
    }
  }
  return exit;
};

const describe = ({ out: { colors } }: Session, { status, invocation_id }: Invocation, note: string): string =>
  `${formatStatus(status, colors)}  ${invocation_id}  ${colors.dim(note)}`.trimEnd();
