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
import { type Look, printTable } from '../print-items.js';
import type { Session } from '../session.js';
import { addWatch, watchTable } from '../watch-lines.js';

type Options = { limit: number; cursor?: string; count?: boolean; watch?: boolean };

const DEFAULT_LIMIT = 20;
const MAX_PAGE = 1000;

export const addList: AddCommand = (program, cli) => {
  const command = program.command('list').alias('ls').description('list invocations, newest first');
  addWatch(addFilterOptions(command, cli.now))
    .option('-n, --limit <n>', 'maximum number of invocations', integer(1), DEFAULT_LIMIT)
    .option('--cursor <cursor>', 'continue from the next_cursor of an earlier list')
    .option('--count', 'count matches by status, runner type, tool and actor instead')
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
    session.out,
  );
  const total = `${counts.capped ? 'more than ' : ''}${countOf(counts.total, 'invocation')}`;
  await session.out.line([total, ...fields].join('\n'));
  return EXIT.success;
};

const printList = async (session: Session, command: Command, { limit, cursor, watch }: Options): Promise<ExitCode> => {
  const client = await session.client();
  const filter = await readFilter(session, command);
  const look = (): Look<Invocation> => ({
    empty: 'No invocations match.',
    columns: invocationColumns(session.out.colors, session.now()),
  });
  if (watch) {
    const size = Math.min(MAX_PAGE, limit);
    return watchTable(session, async () => (await client.list({ ...filter, limit: size, cursor }).page()).items, look);
  }
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
  await printTable(session, items, look());
  if (next !== undefined) await session.err.line(session.err.colors.dim(`More: --cursor ${next}`));
  return EXIT.success;
};
