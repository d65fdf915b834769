import type { Client, InvocationQuery } from '@capstan/client';
import type { InvocationStatus } from '@capstan/contracts';
import { confirm } from './confirm.js';
import { EXIT, type ExitCode } from './exit-code.js';
import { countOf, formatCount } from './format/count.js';
import { isEmptyFilter } from './parse/filter.js';
import type { Session } from './session.js';
import { UsageError } from './usage-error.js';

export type ManyOptions = { all?: boolean; yes?: boolean };

type Many = ManyOptions & {
  filter: InvocationQuery;
  /** What the action can reach at all, which is what `--all` means: the gateway takes no empty filter. */
  statuses: readonly InvocationStatus[];
  act(filter: InvocationQuery): Promise<{ count: number }>;
  /** `cancel` and `canceled`. */
  verb: string;
  done: string;
};

const PAGE = 1000;
/** Beyond this, somebody who is asked needs no exact number, and should not wait for one. */
const MAX_COUNTED = 10_000;

/** Does the same to everything that a filter picks. No filter at all must be meant, and a person is asked first. */
export const actOnMany = async (session: Session, many: Many): Promise<ExitCode> => {
  const { filter, statuses, all = false, yes = false, act, verb, done } = many;
  if (isEmptyFilter(filter) && !all) {
    throw new UsageError('nothing is named', 'Give ids, a filter like --tool or --status, or --all.');
  }
  if (!yes && !(await isMeant(session, many, verb))) {
    await session.err.line(session.err.colors.dim(`Nothing was ${done}.`));
    return EXIT.failed;
  }
  const { count } = await act(isEmptyFilter(filter) ? { status: [...statuses] } : filter);
  const { out } = session;
  if (session.json) await session.printJson({ count });
  else await out.line(`${out.colors.green('✓')} ${countOf(count, 'invocation')} ${done}`);
  return EXIT.success;
};

const isMeant = async (session: Session, { filter, statuses }: Many, verb: string): Promise<boolean> => {
  const count = await countMatching(await session.client(), filter, statuses);
  const words =
    count > MAX_COUNTED ? `more than ${formatCount(MAX_COUNTED)} invocations` : countOf(count, 'invocation');
  return confirm(session, `${verb} ${words}?`);
};

/** How many it would reach, counted no further than needed. */
const countMatching = async (
  client: Client,
  filter: InvocationQuery,
  statuses: readonly InvocationStatus[],
): Promise<number> => {
  const asked = filter.status === undefined ? statuses : [filter.status].flat();
  const status = statuses.filter((one) => asked.includes(one));
  let count = 0;
  if (status.length === 0) return count;
  for await (const _ of client.list({ ...filter, status, limit: PAGE })) {
    count += 1;
    if (count > MAX_COUNTED) break;
  }
  return count;
};
