import { setTimeout as delay } from 'node:timers/promises';
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
import { createLiveBlock } from '../progress/live-block.js';
import { resolveId } from '../resolve-id.js';
import type { Session } from '../session.js';

type Options = HoldFilterOptions & {
  status: HoldStatus;
  sort: HoldSort;
  limit: number;
  once?: boolean;
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
const REFRESH_MS = 1000;
/** The heading, how many more there are, what to do next, and the line that the cursor is on. */
const OTHER_LINES = 4;

export const addHolds: AddCommand = (program, cli) => {
  const holds = program
    .command('holds')
    .description('what waits for a person to decide; with an id, all about that one; comment on one')
    .argument('[id]', 'hld_…')
    .addOption(new Option('--status <status>', 'those that are so').choices(STATUSES).default('pending'));
  addHoldFilter(holds)
    .addOption(
      new Option('--sort <field>', 'newest first, or soonest to expire first')
        .choices(['created_at', 'expires_at'] satisfies HoldSort[])
        .default('created_at'),
    )
    .option('-n, --limit <n>', 'how many', integer(1, 1000), DEFAULT_LIMIT)
    .option('--once', 'show them once, also on a terminal')
    .option('--similar', 'with an id: what was decided of the same tool before, and what came of it')
    .action((id: string | undefined, options: Options, command: Command) =>
      cli.run(command, (session) => {
        if (id === undefined) return printHolds(session, options);
        return options.similar ? printSimilar(session, id) : printHold(session, id);
      }),
    );
  holds
    .command('comment')
    .description('say something about a held call; it is kept with the hold')
    .argument('<id>', 'hld_…')
    .argument('<text...>', 'what to say')
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
  else await session.out.line(formatHold(hold, session.out.colors, session.now()));
  return EXIT.success;
};

/** Earlier decisions on the same tool. */
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
    empty: 'Nothing was decided of this tool before.',
    columns: similarColumns(session.out.colors, session.now()),
  });
  return EXIT.success;
};

type Page = { items: HoldItem[]; next_cursor: string | null };

const printHolds = async (session: Session, options: Options): Promise<ExitCode> => {
  const { once, status, sort, limit } = options;
  const client = await session.client();
  const look = (): Promise<Page> => client.holds.list({ ...holdFilterOf(options), status, sort, limit }).page();
  if (session.out.live && !once && !session.json) return watch(session, limit, look);
  const page = await look();
  if (session.json) {
    await session.printJson(page);
    return EXIT.success;
  }
  await printTable(session, page.items, {
    empty: 'Nothing is held.',
    columns: holdColumns(session.out.colors, session.now()),
  });
  if (page.next_cursor !== null) await session.err.line(session.err.colors.dim(`… ${beyond(limit)}`));
  return EXIT.success;
};

/** Until Ctrl-C, which is how it is meant to end. */
const watch = async (session: Session, limit: number, look: () => Promise<Page>): Promise<ExitCode> => {
  const { out, signal } = session;
  const block = createLiveBlock(out);
  while (!signal.aborted) {
    await block.show(renderLive(await look(), limit, out, session.now()));
    await delay(REFRESH_MS, undefined, { signal }).catch(() => undefined);
  }
  // The terminal wrote ^C where the cursor was; what comes next starts on a line of its own.
  await out.line('');
  return EXIT.success;
};

const NEXT = 'capstan holds <id> · release <id> · reject <id> --comment … · Ctrl-C to leave';

/** What is drawn again and again has to fit: neither wider nor longer than the terminal, its last line for the cursor. */
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
      ? [cut('Nothing is held. Waiting for what comes…', columns)]
      : formatTable(holdColumns(colors, now), shown, { colors, columns, strict: true });
  const notes = [...(more.length > 0 ? [`… ${more.join(', and ')}`] : []), NEXT];
  return [...lines, ...notes.map((note) => colors.dim(cut(note, columns)))].slice(0, Math.max(1, rows - 1));
};

const beyond = (limit: number): string => `others beyond --limit ${limit}`;
