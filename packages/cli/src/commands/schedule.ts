import type { NewSchedule, Overlap, Schedule } from '@capstan/contracts';
import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { relativeTime } from '../format/relative-time.js';
import { formatSchedule, formatWhen } from '../format/schedule.js';
import { choice } from '../parse/choice.js';
import { parseDuration } from '../parse/duration.js';
import { readInputs } from '../parse/inputs.js';
import { integer } from '../parse/integer.js';
import { printItems } from '../print-items.js';
import { readDocumentFile } from '../read-document-file.js';
import { readStdin } from '../read-stdin.js';
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
    .description('start tools and plans by the clock: add, list, show, pause, resume, remove')
    .action((_options: object, command: Command) => cli.run(command, printSchedules));
  schedule
    .command('add')
    .description('a new schedule')
    .option('--tool <tool_id>', 'the tool to start')
    .option('--plan <file>', 'or the plan, a file of YAML or JSON; - for stdin')
    .option('--inputs <json>', 'what it is given: JSON, @file, or - for stdin')
    .option('--cron <pattern>', 'when: "0 9 * * 1-5" is at nine from Monday to Friday')
    .option('--tz <zone>', 'the time zone of the pattern, like Europe/Berlin; UTC by default')
    .option('--every <time>', 'or how often: 30s, 5m, 1h', parseDuration)
    .option('--name <name>', 'what to call it')
    .option(
      '--overlap <how>',
      'when the last run goes on: skip, queue or cancel',
      choice<Overlap>({ skip: true, queue: true, cancel: true }),
    )
    .option('--catch-up <n>', 'how many missed starts to make up for', integer(0, MAX_CATCH_UP))
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
    .description('every schedule, with its next and its last start')
    .action((_options: object, command: Command) => cli.run(command, printSchedules));
  schedule
    .command('show')
    .description('one schedule, with its next starts and what became of the last ones')
    .argument('<schedule>', 'its id or name')
    .action((id: string, _options: object, command: Command) =>
      cli.run(command, async (session) => show(session, await resolveName(session, 'schedule', id))),
    );
  const onEach = (name: string, description: string, act: (session: Session, id: string) => Promise<string>): void => {
    schedule
      .command(name)
      .description(description)
      .argument('<schedule...>', 'their ids or names')
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
  onEach('pause', 'start nothing more until it is resumed', change({ paused: true }, 'is paused'));
  onEach('resume', 'go on from now', change({ paused: false }, 'goes on'));
  onEach('remove', 'remove it; what it has started goes on', async (session, id) => {
    await (await session.client()).schedules.remove(id);
    return 'is gone';
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
    throw new UsageError('Give either --tool or --plan.');
  if ((options.cron === undefined) === (options.every === undefined))
    throw new UsageError('Give either --cron or --every.');
  const wanted: NewSchedule = {
    ...(options.tool === undefined ? {} : { tool_id: options.tool }),
    ...(options.plan === undefined ? {} : { plan: await readDocumentFile(session, options.plan) }),
    ...(options.inputs === undefined ? {} : { inputs: await inputsOf(session, options.inputs) }),
    ...(options.cron === undefined ? {} : { cron: options.cron }),
    ...(options.tz === undefined ? {} : { time_zone: options.tz }),
    ...(options.every === undefined ? {} : { every_ms: options.every }),
    ...(options.name === undefined ? {} : { name: options.name }),
    ...(options.overlap === undefined ? {} : { overlap: options.overlap }),
    ...(options.catchUp === undefined ? {} : { catch_up: options.catchUp }),
  };
  const client = await session.client();
  const created = await client.schedules.create(wanted);
  const { out } = session;
  if (session.json) await session.printJson(created);
  else await out.line(`${out.colors.green('✓')} ${created.schedule_id}  next ${created.next[0] ?? '-'}`);
  return EXIT.success;
};

const show = async (session: Session, id: string): Promise<ExitCode> => {
  const client = await session.client();
  const schedule = await client.schedules.get(id);
  if (session.json) await session.printJson(schedule);
  else await session.out.line(formatSchedule(schedule, session.out, session.now()).join('\n'));
  return EXIT.success;
};

const inputsOf = (session: Session, text: string) =>
  readInputs(text, {
    readStdin: () => readStdin(session),
    readFile: async (path) =>
      (await import('node:fs/promises')).readFile((await import('node:path')).resolve(session.cwd, path), 'utf8'),
  });

const printSchedules = async (session: Session): Promise<ExitCode> => {
  const client = await session.client();
  const { colors } = session.out;
  const when = (time: string | null) => (time === null ? '-' : relativeTime(time, session.now()));
  await printItems<Schedule>(session, client.schedules.list(), {
    empty: 'There is no schedule yet. Add one with `capstan schedule add`.',
    columns: [
      { title: 'SCHEDULE', text: ({ schedule_id }) => schedule_id },
      { title: 'NAME', text: ({ name }) => name ?? '-', shrinks: true },
      {
        title: 'WHEN',
        text: formatWhen,
      },
      { title: 'STARTS', text: ({ tool_id }) => tool_id ?? 'a plan' },
      {
        title: 'NEXT',
        text: ({ paused, next_at }) => (paused ? 'paused' : when(next_at)),
        paint: (text, { paused }) => (paused ? colors.yellow(text) : text),
      },
      { title: 'LAST', text: ({ last_at }) => when(last_at) },
      {
        title: 'LAST RUN',
        text: ({ last_run_id, last_error, paused_reason }) => paused_reason ?? last_error ?? last_run_id ?? '-',
        paint: (text, { last_error, paused_reason }) =>
          paused_reason !== null ? colors.yellow(text) : last_error !== null ? colors.red(text) : text,
      },
    ],
  });
  return EXIT.success;
};
