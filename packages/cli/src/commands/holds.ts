import type { Hold, HoldItem, HoldSort, HoldStatus } from '@capstan/contracts';
import { type Command, Option } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { formatCount } from '../format/count.js';
import { formatHold, holdColumns, similarColumns } from '../format/hold.js';
import { formatTable } from '../format/table.js';
import { cut } from '../format/width.js';
import type { Output } from '../output.js';
import { addHoldFilter, type HoldFilterOptions, holdFilterOf } from '../parse/hold-filter.js';
import { integer } from '../parse/integer.js';
import { printTable } from '../print-items.js';
import { resolveId } from '../resolve-id.js';
import type { Session } from '../session.js';
import { addWatch, notWatchable, watchLines } from '../watch-lines.js';

type Options = HoldFilterOptions & {
  status: HoldStatus;
  sort: HoldSort;
  limit: number;
  once?: boolean;
  watch?: boolean;
  similar?: boolean;
};

const STATUSES = [
  'pending',
  'released',
  'rejected',
  'expired',
  'withdrawn',
  'canceled',
] as const satisfies HoldStatus[];
const DEFAULT_LIMIT = 20;
/** The heading, the count of hidden rows, the hint, and the line with the cursor. */
const OTHER_LINES = 4;

export const addHolds: AddCommand = (program, cli) => {
  const holds = program
    .command('holds')
    .description('list pending holds, or show one by its id')
    .argument('[id]', 'hold id (hld_…)')
    .addOption(new Option('--status <status>', 'only with this status').choices(STATUSES).default('pending'));
  addWatch(addHoldFilter(holds))
    .addOption(
      new Option('--sort <field>', 'sort by age or by expiry')
        .choices(['created_at', 'expires_at'] satisfies HoldSort[])
        .default('created_at'),
    )
    .option('-n, --limit <n>', 'maximum number of holds', integer(1, 1000), DEFAULT_LIMIT)
    .option('--once', 'print once; by default the list refreshes on a terminal')
    .option('--similar', 'with an id: show earlier decisions on the same tool')
    .action((id: string | undefined, options: Options, command: Command) =>
      cli.run(command, (session) => {
        if (id === undefined) return printHolds(session, options);
        return options.similar ? printSimilar(session, id) : printHold(session, id);
      }),
    );
  holds
    .command('comment')
    .description('comment on a held call')
    .argument('<id>', 'hold id (hld_…)')
    .argument('<text...>', 'the comment')
    .action((id: string, words: string[], _options: object, command: Command) =>
      cli.run(command, (session) => comment(session, id, words.join(' '))),
    );
};

export const printHold = async (session: Session, id: string): Promise<ExitCode> => {
  const client = await session.client();
  return print(session, await client.holds.get(await resolveId(session, id)));
};

const comment = async (session: Session, id: string, text: string): Promise<ExitCode> => {
  const client = await session.client();
  return print(session, await client.holds.comment(await resolveId(session, id), text));
};

const print = async (session: Session, hold: Hold): Promise<ExitCode> => {
  if (session.json) await session.printJson(hold);
  else await session.out.line(formatHold(hold, session.out, session.now()));
  return EXIT.success;
};

const printSimilar = async (session: Session, id: string): Promise<ExitCode> => {
  const client = await session.client();
  const similar = await client.holds.similar(await resolveId(session, id));
  if (session.json) {
    await session.printJson(similar);
    return EXIT.success;
  }
  const counts = Object.entries(similar.counts).map(([status, count]) => `${formatCount(count)} ${status}`);
  if (counts.length > 0) await session.out.line(`Before: ${counts.join(', ')}`);
  await printTable(session, similar.items, {
    empty: 'No earlier decisions on this tool.',
    columns: similarColumns(session.out.colors, session.now()),
  });
  return EXIT.success;
};

type Page = { items: HoldItem[]; next_cursor: string | null };

const printHolds = async (session: Session, options: Options): Promise<ExitCode> => {
  const { once, status, sort, limit } = options;
  const client = await session.client();
  const look = (): Promise<Page> => client.holds.list({ ...holdFilterOf(options), status, sort, limit }).page();
  if (session.out.live && !once && !session.json)
    return watchLines(session, async () => renderLive(await look(), limit, session.out, session.now()));
  if (options.watch) throw notWatchable();
  const page = await look();
  if (session.json) {
    await session.printJson(page);
    return EXIT.success;
  }
  await printTable(session, page.items, {
    empty: 'No holds match.',
    columns: holdColumns(page.items, {
      colors: session.out.colors,
      now: session.now(),
      columns: session.out.tty ? session.out.columns : null,
    }),
  });
  if (page.next_cursor !== null) await session.err.line(session.err.colors.dim(`… ${beyond(limit)}`));
  return EXIT.success;
};

const NEXT = 'capstan holds <id> · release <id> · reject <id> --comment … · Ctrl-C to leave';

/** Must fit the terminal, because what has scrolled away cannot be redrawn. The last line is left for the cursor. */
const renderLive = ({ items, next_cursor }: Page, limit: number, out: Output, now: Date): string[] => {
  const { colors, columns, rows } = out;
  const shown = items.slice(0, Math.max(1, rows - OTHER_LINES));
  const hidden = items.length - shown.length;
  const more = [
    ...(hidden > 0 ? [`${formatCount(hidden)} more`] : []),
    ...(next_cursor === null ? [] : [beyond(limit)]),
  ];
  const lines =
    items.length === 0
      ? [cut('No holds. Waiting for new ones…', columns)]
      : formatTable(holdColumns(items, { colors, now, columns }), shown, { colors, columns, strict: true });
  const notes = [...(more.length > 0 ? [`… ${more.join(', and ')}`] : []), NEXT];
  return [...lines, ...notes.map((note) => colors.dim(cut(note, columns)))].slice(0, Math.max(1, rows - 1));
};

const beyond = (limit: number): string => `more beyond --limit ${limit}`;
