import type { Invocation } from '@capstan/contracts';
import { visibleLine } from '@capstan/contracts/visible-text';
import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { countOf, formatCount } from '../format/count.js';
import { formatFields } from '../format/fields.js';
import { invocationColumns } from '../format/invocation-columns.js';
import { addFilterOptions, readFilter } from '../parse/filter.js';
import { integer } from '../parse/integer.js';
import { printTable } from '../print-items.js';
import type { Session } from '../session.js';

type Options = { limit: number; cursor?: string; count?: boolean };

const DEFAULT_LIMIT = 20;
const MAX_PAGE = 1000;

export const addList: AddCommand = (program, cli) => {
  const command = program.command('list').alias('ls').description('invocations, the newest first');
  addFilterOptions(command, cli.now)
    .option('-n, --limit <n>', 'how many', integer(1), DEFAULT_LIMIT)
    .option('--cursor <cursor>', 'go on after an earlier list')
    .option('--count', 'how many match instead, by status, runner type and tool')
    .action((options: Options) =>
      cli.run(command, (session) =>
        options.count ? printCounts(session, command) : printList(session, command, options),
      ),
    );
};

const printCounts = async (session: Session, command: Command): Promise<ExitCode> => {
  const client = await session.client();
  const counts = await client.counts(await readFilter(session, command));
  if (session.json) {
    await session.printJson(counts);
    return EXIT.success;
  }
  const listed = (names: Record<string, number>) =>
    Object.entries(names)
      .map(([name, count]) => `${formatCount(count)} ${visibleLine(name)}`)
      .join(', ');
  const fields = formatFields(
    [
      ['status', listed(counts.status)],
      ['runner', listed(counts.runner)],
      ['tool', listed(counts.tool_id)],
      ['actor', listed(counts.actor)],
    ],
    session.out.colors,
  );
  const total = `${counts.capped ? 'more than ' : ''}${countOf(counts.total, 'invocation')}`;
  await session.out.line([total, ...fields].join('\n'));
  return EXIT.success;
};

const printList = async (session: Session, command: Command, { limit, cursor }: Options): Promise<ExitCode> => {
  const client = await session.client();
  const filter = await readFilter(session, command);
  const items: Invocation[] = [];
  let next: string | null | undefined = cursor;
  do {
    const size = Math.min(MAX_PAGE, limit - items.length);
    const page = await client.list({ ...filter, limit: size, cursor: next }).page();
    items.push(...page.items);
    next = page.next_cursor ?? undefined;
  } while (next !== undefined && items.length < limit);

  if (session.json) {
    await session.printJson({ items, next_cursor: next ?? null });
    return EXIT.success;
  }
  await printTable(session, items, {
    empty: 'No invocation matches.',
    columns: invocationColumns(session.out.colors, session.now()),
  });
  if (next !== undefined) await session.err.line(session.err.colors.dim(`more: --cursor ${next}`));
  return EXIT.success;
};
