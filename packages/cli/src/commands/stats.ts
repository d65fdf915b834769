import type { StatsBy, StatsNow, StatsPoint } from '@capstan/contracts';
import { type Command, Option } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { formatCount } from '../format/count.js';
import { formatDuration } from '../format/duration.js';
import { relativeTime } from '../format/relative-time.js';
import type { Column } from '../format/table.js';
import { parseDuration } from '../parse/duration.js';
import { parseMoment } from '../parse/moment.js';
import { printTable } from '../print-items.js';
import type { Session } from '../session.js';

type Options = { by: StatsBy; since?: string; until?: string; step?: number };
type Row = StatsPoint & { key: string };

const BY = ['runner', 'tool_id', 'status'] as const satisfies StatsBy[];

export const addStats: AddCommand = (program, cli) => {
  const stats = program
    .command('stats')
    .description('show throughput, failures, queue wait and run time')
    .addOption(new Option('--by <what>', 'one series for each').choices(BY).default('runner'))
    .option(
      '--since <when>',
      'start of the range: 2026-01-31, or 10m, 2h, 3d ago; by default 1h ago',
      parseMoment(cli.now),
    )
    .option('--until <when>', 'end of the range; by default now', parseMoment(cli.now))
    .option('--step <time>', 'time between points: 1m, 5m, 1h', parseDuration)
    .action((options: Options, command: Command) => cli.run(command, (session) => printStats(session, options)));
  stats
    .command('now')
    .description('show what is waiting and running right now, by runner type')
    .action((_options: object, command: Command) => cli.run(command, printNow));
};

const printStats = async (session: Session, { by, since, until, step }: Options): Promise<ExitCode> => {
  const client = await session.client();
  const stats = await client.stats.read({ by, since, until, ...(step === undefined ? {} : { step: step / 1000 }) });
  if (session.json) {
    await session.printJson(stats);
    return EXIT.success;
  }
  const rows = stats.series.flatMap(({ points, ...of }) => points.map((point) => ({ ...point, key: of[by] ?? '' })));
  rows.sort((a, b) => a.t.localeCompare(b.t) || a.key.localeCompare(b.key));
  await printTable<Row>(session, rows, { empty: 'No invocations ended in this range.', columns: pointColumns(by) });
  return EXIT.success;
};

const time = (ms: number | null): string => (ms === null ? '-' : formatDuration(ms));

const pointColumns = (by: StatsBy): Column<Row>[] => [
  { title: 'TIME', text: ({ t }) => t.slice(0, 16).replace('T', ' ') },
  { title: by === 'tool_id' ? 'TOOL' : by.toUpperCase(), text: ({ key }) => key, shrinks: true, tail: true },
  { title: 'ENDED', text: ({ count }) => formatCount(count), align: 'right' },
  { title: 'FAILED', text: ({ failed }) => formatCount(failed), align: 'right' },
  { title: 'WAIT P50', text: ({ wait_p50_ms }) => time(wait_p50_ms), align: 'right', drops: 2 },
  { title: 'P95', text: ({ wait_p95_ms }) => time(wait_p95_ms), align: 'right', drops: 1 },
  { title: 'RUN P50', text: ({ run_p50_ms }) => time(run_p50_ms), align: 'right' },
  { title: 'P95', text: ({ run_p95_ms }) => time(run_p95_ms), align: 'right' },
];

const printNow = async (session: Session): Promise<ExitCode> => {
  const now = await (await session.client()).stats.now();
  if (session.json) {
    await session.printJson(now);
    return EXIT.success;
  }
  await printTable<StatsNow['runners'][number]>(session, now.runners, {
    empty: 'No runner types.',
    columns: [
      { title: 'RUNNER', text: ({ runner, paused }) => (paused ? `${runner} (paused)` : runner) },
      { title: 'QUEUED', text: ({ queued }) => formatCount(queued), align: 'right' },
      {
        title: 'OLDEST',
        text: ({ oldest_waiting_at: at }) => (at === null ? '-' : relativeTime(at, session.now())),
        align: 'right',
      },
      { title: 'DEFERRED', text: ({ deferred }) => formatCount(deferred), align: 'right', drops: 1 },
      { title: 'HELD', text: ({ held }) => formatCount(held), align: 'right' },
      { title: 'RUNNING', text: ({ running }) => formatCount(running), align: 'right' },
      {
        title: 'SLOTS',
        text: ({ slots, slots_used, workers }) => (workers === 0 ? 'no worker' : `${slots_used}/${slots}`),
        align: 'right',
      },
    ],
  });
  return EXIT.success;
};
