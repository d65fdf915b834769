import type { Decide, HoldFilter } from '@capstan/contracts';
import { visibleLine } from '@capstan/contracts/visible-text';
import { confirm } from './confirm.js';
import { EXIT, type ExitCode } from './exit-code.js';
import { countOf } from './format/count.js';
import type { Session } from './session.js';
import { UsageError } from './usage-error.js';

type Decision = Pick<Decide, 'decision' | 'comment'> & { yes: boolean };

const PAGE = 1000;

/** Decides on all pending holds that match a filter, after asking with their number. */
export const decideMany = async (
  session: Session,
  filter: HoldFilter,
  { decision, comment, yes }: Decision,
): Promise<ExitCode> => {
  if (Object.keys(filter).length === 0)
    throw new UsageError('no ids or filter given', 'Pass ids, or a filter like --tool or --rule.');
  const { holds } = await session.client();
  const { items } = await holds.list({ ...filter, limit: PAGE }).page();
  const { out, err } = session;
  if (items.length === 0) {
    await err.line('No pending holds match.');
    return EXIT.success;
  }
  if (!yes && !(await confirm(session, `${decision} ${countOf(items.length, 'held call')}?`))) {
    await err.line(err.colors.dim('Nothing was decided.'));
    return EXIT.failed;
  }
  // Only the holds that were counted, with the inputs they had then.
  const input_hashes = Object.fromEntries(items.map(({ hold_id, input_hash }) => [hold_id, input_hash]));
  const answer = await holds.decide({ hold_ids: Object.keys(input_hashes), decision, comment, input_hashes });
  if (session.json) await session.printJson(answer);
  else {
    const done = decision === 'release' ? 'approved' : 'rejected';
    await out.line(`${out.colors.green('✓')} ${countOf(answer.decided, 'held call')} ${done}`);
    for (const { hold_id, problem } of answer.items)
      if (problem) await err.line(`${err.colors.red('✗')} ${hold_id}: ${visibleLine(problem.detail)}`);
  }
  return answer.refused > 0 ? EXIT.failed : EXIT.success;
};
