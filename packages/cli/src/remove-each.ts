import { actOnEach } from './act-on-each.js';
import type { ExitCode } from './exit-code.js';
import type { Session } from './session.js';

type Removal = {
  /** The name of the id in the JSON output. */
  field: string;
  done: 'removed' | 'deleted' | 'revoked' | 'ended';
  remove(id: string): Promise<unknown>;
  /** Finds the id that an argument stands for. By default the argument is the id. */
  resolve?(session: Session, text: string): Promise<string>;
};

/** Removes several things by id or name. If one is refused, it is reported and the rest continue. */
export const removeEach = (
  session: Session,
  names: readonly string[],
  { field, done, remove, resolve = async (_, text) => text }: Removal,
): Promise<ExitCode> =>
  actOnEach(
    session,
    names,
    async (id) => {
      await remove(id);
      return { [field]: id, [done]: true };
    },
    (_record, id) => `${session.out.colors.green('✓')} ${id} ${done}`,
    resolve,
  );
