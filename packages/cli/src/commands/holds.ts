import { setTimeout as delay } from 'node:timers/promises';
import type { HoldStatus, HoldSummary, Risk } from '@capstan/contracts';
import { type Command, Option } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { formatHold, holdColumns } from '../format/hold.js';
import { formatTable } from '../format/table.js';
import { integer } from '../parse/integer.js';
import { printTable } from '../print-items.js';
import { createLiveBlock } from '../progress/live-block.js';
import type { Session } from '../session.js';

type Options = { status: HoldStatus; tool?: string; actor?: string; risk?: Risk; limit: number; once?: boolean };

const STATUSES = [
  'pending',
  'released',
  'rejected',
  'expired',
  'withdrawn',
  'canceled',
] as const satisfies HoldStatus[];
const RISKS = ['LOW', 'MED', 'HIGH', 'CRITICAL'] as const satisfies Risk[];
const DEFAULT_LIMIT = 20;
const REFRESH_MS = 1000;

export const addHolds: AddCommand = (program, cli) => {
  program
    .command('holds')
    .description('what waits for a person to decide; with an id, all about that one')
    .argument('[id]', 'hld_…')
    .addOption(new Option('--status <status>', 'those that are so').choices(STATUSES).default('pending'))
    .option('--tool <tool>', 'of this tool')
    .option('--actor <name>', 'asked for by them')
    .addOption(new Option('--risk <risk>', 'of this risk').choices(RISKS))
    .option('-n, --limit <n>', 'how many', integer(1, 1000), DEFAULT_LIMIT)
    .option('--once', 'show them once, also on a terminal')
    .action((id: string | undefined, options: Options, command: Command) =>
      cli.run(command, (session) => (id === undefined ? printHolds(session, options) : printHold(session, id))),
    );
};

const printHold = async (session: Session, id: string): Promise<ExitCode> => {
  const client = await session.client();
  const hold = await client.holds.get(id);
  if (session.json) await session.printJson(hold);
  else await session.out.line(formatHold(hold, session.out.colors, session.now()));
  return EXIT.success;
};

const printHolds = async (session: Session, { tool, once, ...filter }: Options): Promise<ExitCode> => {
  const client = await session.client();
  const look = () => client.holds.list({ ...filter, tool_id: tool }).page();
  if (session.out.live && !once && !session.json) return watch(session, async () => (await look()).items);
  const page = await look();
  if (session.json) {
    await session.printJson(page);
    return EXIT.success;
  }
  await printTable(session, page.items, {
    empty: 'Nothing is held.',
    columns: holdColumns(session.out.colors, session.now()),
  });
  return EXIT.success;
};

/** Until Ctrl-C, which is how it is meant to end. */
const watch = async (session: Session, look: () => Promise<HoldSummary[]>): Promise<ExitCode> => {
  const { out, signal } = session;
  const block = createLiveBlock(out);
  while (!signal.aborted) {
    const items = await look();
    const columns = holdColumns(out.colors, session.now());
    const table = formatTable(columns, items, { colors: out.colors, columns: out.columns });
    const next = 'capstan holds <id> · capstan release <id> · capstan reject <id> --comment … · Ctrl-C to leave';
    const lines = items.length === 0 ? ['Nothing is held. Waiting for what comes…'] : table;
    await block.show([...lines, out.colors.dim(next.slice(0, out.columns))]);
    await delay(REFRESH_MS, undefined, { signal }).catch(() => undefined);
  }
  return EXIT.success;
};
