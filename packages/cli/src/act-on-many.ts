import type { InvocationQuery } from '@capstan/client';
import { EXIT, type ExitCode } from './exit-code.js';
import { countOf } from './format/count.js';
import { isEmptyFilter } from './parse/filter.js';
import type { Session } from './session.js';
import { UsageError } from './usage-error.js';

type Many = {
  filter: InvocationQuery;
  /** What `--all` means here; the gateway takes no empty filter either. */
  everything: InvocationQuery;
  all: boolean;
  act(filter: InvocationQuery): Promise<{ count: number }>;
  done: string;
};

/** Does the same to everything that a filter picks. No filter at all must be meant. */
export const actOnMany = async (session: Session, { filter, everything, all, act, done }: Many): Promise<ExitCode> => {
  if (isEmptyFilter(filter) && !all) {
    throw new UsageError('nothing is named', 'Give ids, a filter like --tool or --status, or --all.');
  }
  const { count } = await act(isEmptyFilter(filter) ? everything : filter);
  const { out } = session;
  if (session.json) await session.printJson({ count });
  else await out.line(`${out.colors.green('✓')} ${countOf(count, 'invocation')} ${done}`);
  return EXIT.success;
};
