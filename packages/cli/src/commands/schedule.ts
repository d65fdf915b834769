import type { NewSchedule, Overlap, Schedule } from '@capstan/contracts';
import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { relativeTime } from '../format/relative-time.js';
import { formatSchedule, formatWhen } from '../format/schedule.js';
import { choice } from '../parse/choice.js';
import { parseDuration } from '../parse/duration.js';
import { integer } from '../parse/integer.js';
import { printDone } from '../print-done.js';
import { printItems } from '../print-items.js';
import { readTextFile } from '../read-text-file.js';
import { readJsonInputs } from '../read-tool-inputs.js';
import { resolveName } from '../resolve-name.js';
import type { Session } from '../session.js';
import { UsageError } from '../usage-error.js';

type AddOptions = {
  tool?: string;
  plan?: string;
  inputs?: string;
  cron?: string;
  tz?: string;
  every?: number;
  name?: string;
  overlap?: Overlap;
  catchUp?: number;
};

const MAX_CATCH_UP = 100;

export const addSchedule: AddCommand = (program, cli) => {
  const schedule = program
    .command('schedule')
    .description('run tools and plans on a schedule')
    .action((_options: object, command: Command) => cli.run(command, printSchedules));
  schedule
    .command('add')
    .description('create a schedule')
    .option('--tool <tool_id>', 'tool to run')
    .option('--plan <file>', 'plan to run: a YAML or JSON file; - for stdin')
    .option('--inputs <json>', 'inputs of the tool or plan: JSON, @file, or - for stdin')
    .option('--cron <pattern>', 'when to start: "0 9 * * 1-5" is 9:00 on weekdays')
    .option('--tz <zone>', 'time zone of the pattern, like Europe/Berlin; by default UTC')
    .option('--every <time>', 'interval instead of a pattern: 30s, 5m, 1h', parseDuration)
    .option('--name <name>', 'name of the schedule')
    .option(
      '--overlap <how>',
      'if the last run has not ended: skip, queue or cancel',
      choice<Overlap>({ skip: true, queue: true, cancel: true }),
    )
    .option('--catch-up <n>', 'maximum number of missed starts to make up for', integer(0, MAX_CATCH_UP))
    .addHelpText(
      'after',
      `
Examples:
  $ capstan schedule add --tool cap:current_time:get_current_time --every 5m
  $ capstan schedule add --plan nightly.yaml --cron "0 3 * * *" --tz Europe/Berlin`,
    )
    .action((options: AddOptions, command: Command) => cli.run(command, (session) => create(session, options)));
  schedule
    .command('list')
    .description('list schedules with their next and last start')
    .action((_options: object, command: Command) => cli.run(command, printSchedules));
  schedule
    .command('show')
    .description('show a schedule, its next starts and its latest outcomes')
    .argument('<schedule>', 'schedule id or name')
    .action((id: string, _options: object, command: Command) =>
      cli.run(command, async (session) => show(session, await resolveName(session, 'schedule', id))),
    );
  const onEach = (name: string, description: string, act: (session: Session, id: string) => Promise<string>): void => {
    schedule
      .command(name)
      .description(description)
      .argument('<schedule...>', 'schedule ids or names')
      .action((ids: string[], _options: object, command: Command) =>
        cli.run(command, async (session) => {
          for (const id of ids) {
            const done = await act(session, await resolveName(session, 'schedule', id));
            if (!session.json) await session.out.line(`${session.out.colors.green('✓')} ${id} ${done}`);
          }
          return EXIT.success;
        }),
      );
  };
  onEach('pause', 'pause schedules', change({ paused: true }, 'paused'));
  onEach('resume', 'resume paused schedules from now on', change({ paused: false }, 'resumed'));
  onEach('remove', 'remove schedules; calls and runs they started continue', async (session, id) => {
    await (await session.client()).schedules.remove(id);
    return 'removed';
  });
};

const change =
  (wanted: { paused: boolean }, done: string) =>
  async (session: Session, id: string): Promise<string> => {
    const client = await session.client();
    const changed = await client.schedules.change(id, wanted);
    if (session.json) await session.printJson(changed);
    return done;
  };

const create = async (session: Session, options: AddOptions): Promise<ExitCode> => {
  if ((options.tool === undefined) === (options.plan === undefined))
    throw new UsageError('pass either --tool or --plan');
  if ((options.cron === undefined) === (options.every === undefined))
    throw new UsageError('pass either --cron or --every');
  const wanted: NewSchedule = {
    ...(options.tool === undefined ? {} : { tool_id: options.tool }),
    ...(options.plan === undefined ? {} : { plan: await readTextFile(session, options.plan) }),
    ...(options.inputs === undefined ? {} : { inputs: await readJsonInputs(session, options.inputs) }),
    ...(options.cron === undefined ? {} : { cron: options.cron }),
    ...(options.tz === undefined ? {} : { time_zone: options.tz }),
    ...(options.every === undefined ? {} : { every_ms: options.every }),
    ...(options.name === undefined ? {} : { name: options.name }),
    ...(options.overlap === undefined ? {} : { overlap: options.overlap }),
    ...(options.catchUp === undefined ? {} : { catch_up: options.catchUp }),
  };
  const client = await session.client();
  const created = await client.schedules.create(wanted);
  await printDone(session, created, `${created.schedule_id}  next ${created.next[0] ?? '-'}`);
  return EXIT.success;
};

const show = async (session: Session, id: string): Promise<ExitCode> => {
  const client = await session.client();
  const schedule = await client.schedules.get(id);
  if (session.json) await session.printJson(schedule);
  else await session.out.line(formatSchedule(schedule, session.out, session.now()).join('\n'));
  return EXIT.success;
};

const printSchedules = async (session: Session): Promise<ExitCode> => {
  const client = await session.client();
  const { colors } = session.out;
  const when = (time: string | null) => (time === null ? '-' : relativeTime(time, session.now()));
  await printItems<Schedule>(session, client.schedules.list(), {
    empty: 'No schedules. Add one with `capstan schedule add`.',
    columns: [
      { title: 'SCHEDULE', text: ({ schedule_id }) => schedule_id },
      { title: 'NAME', text: ({ name }) => name ?? '-', shrinks: true },
      {
        title: 'WHEN',
        text: formatWhen,
      },
      { title: 'STARTS', text: ({ tool_id }) => tool_id ?? 'a plan', shrinks: true, tail: true },
      {
        title: 'NEXT',
        text: ({ paused, next_at }) => (paused ? 'paused' : when(next_at)),
        paint: (text, { paused }) => (paused ? colors.yellow(text) : text),
      },
      { title: 'LAST', text: ({ last_at }) => when(last_at), drops: 2 },
      {
        title: 'LAST RUN',
        shrinks: true,
        drops: 1,
        text: ({ last_run_id, last_error, paused_reason }) => paused_reason ?? last_error ?? last_run_id ?? '-',
        paint: (text, { last_error, paused_reason }) =>
          paused_reason !== null ? colors.yellow(text) : last_error !== null ? colors.red(text) : text,
      },
    ],
  });
  return EXIT.success;
};
