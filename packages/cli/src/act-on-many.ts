import type { Client, InvocationQuery } from '@capstan/client';
import type { InvocationStatus } from '@capstan/contracts';
import { confirm } from './confirm.js';
import { EXIT, type ExitCode } from './exit-code.js';
import { countOf, formatCount } from './format/count.js';
import { isEmptyFilter } from './parse/filter.js';
import { printDone } from './print-done.js';
import type { Session } from './session.js';
import { UsageError } from './usage-error.js';

export type ManyOptions = { all?: boolean; yes?: boolean };

type Many = ManyOptions & {
  filter: InvocationQuery;
  /** The statuses the action applies to. They stand for `--all`, because the gateway rejects an empty filter. */
  statuses: readonly InvocationStatus[];
  act(filter: InvocationQuery): Promise<{ count: number }>;
  /** `cancel` and `canceled`. */
  verb: string;
  done: string;
};

const PAGE = 1000;
/** Counting stops here: the question needs no exact number beyond it, and counting takes time. */
const MAX_COUNTED = 10_000;

/** Applies an action to all matches of a filter, after asking. An empty filter needs `--all`. */
export const actOnMany = async (session: Session, many: Many): Promise<ExitCode> => {
  const { filter, statuses, all = false, yes = false, act, verb, done } = many;
  if (isEmptyFilter(filter) && !all) {
    throw new UsageError('no ids or filter given', 'Pass ids, a filter like --tool or --status, or --all.');
  }
  if (!yes) {
    const matches = await countMatching(await session.client(), filter, statuses);
    // Nothing to confirm. A script still fails without --yes, so that it does not depend on what happens to match.
    if (matches === 0 && session.stdin.isTTY) return printCount(session, 0, done);
    if (!(await confirm(session, `${verb} ${inWords(matches)}?`))) {
      await session.err.line(session.err.colors.dim(`Nothing was ${done}.`));
      return EXIT.failed;
    }
  }
  const { count } = await act(isEmptyFilter(filter) ? { status: [...statuses] } : filter);
  return printCount(session, count, done);
};

const printCount = async (session: Session, count: number, done: string): Promise<ExitCode> => {
  await printDone(session, { count }, `${countOf(count, 'invocation')} ${done}`);
  return EXIT.success;
};

const inWords = (count: number): string =>
  count > MAX_COUNTED ? `more than ${formatCount(MAX_COUNTED)} invocations` : countOf(count, 'invocation');

/** The number of matches, counted up to one more than MAX_COUNTED. */
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
