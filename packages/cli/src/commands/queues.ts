import type { QueueInfo, QueueName } from '@capstan/contracts';
import { Argument, type Command } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { formatCount } from '../format/count.js';
import { formatDuration } from '../format/duration.js';
import { formatFields } from '../format/fields.js';
import { formatStatus, paintStatus, statusText } from '../format/status.js';
import { parseQueue } from '../parse/words.js';
import type { Look } from '../print-items.js';
import type { Session } from '../session.js';
import { addWatch, printOrWatch } from '../watch-lines.js';

export const addQueues: AddCommand = (program, cli) => {
  const queues = addWatch(program.command('queues'))
    .description('list queues, pause or resume one, or show its scaling signal')
    .action(({ watch = false }: { watch?: boolean }, command: Command) =>
      cli.run(command, (session) => printQueues(session, watch)),
    );
  for (const action of ['pause', 'resume'] as const) {
    queues
      .command(action)
      .description(action === 'pause' ? 'pause a queue: no new calls start' : 'resume a paused queue')
      .addArgument(new Argument('<runner>', 'runner type, or app/<pool>').argParser(parseQueue))
      .action((runner: QueueName, _options: object, command: Command) =>
        cli.run(command, (session) => switchQueue(session, action, runner)),
      );
  }
  queues
    .command('scale')
    .description('show how many workers a queue needs')
    .addArgument(new Argument('<runner>', 'runner type').argParser(parseQueue))
    .action((runner: QueueName, _options: object, command: Command) =>
      cli.run(command, (session) => printScale(session, runner)),
    );
};

const printScale = async (session: Session, runner: QueueName): Promise<ExitCode> => {
  const client = await session.client();
  const scale = await client.queues.scale(runner);
  if (session.json) await session.printJson(scale);
  else
    for (const line of formatFields(
      [
        ['waiting', formatCount(scale.waiting)],
        ['running', formatCount(scale.running)],
        ['oldest wait', formatDuration(scale.oldest_wait_s * 1000)],
        ['slots', formatCount(scale.slots)],
        ['desired', formatCount(scale.desired)],
      ],
      session.out,
    ))
      await session.out.line(line);
  return EXIT.success;
};

const printQueues = async (session: Session, watch: boolean): Promise<ExitCode> => {
  const client = await session.client();
  return printOrWatch(
    session,
    watch,
    () => client.queues.list(),
    () => lookOf(session),
  );
};

const lookOf = (session: Session): Look<QueueInfo> => {
  const { colors } = session.out;
  const state = ({ paused }: QueueInfo) => (paused ? 'paused' : 'open');
  const count = (title: string, of: (queue: QueueInfo) => number) => ({
    title,
    text: (queue: QueueInfo) => formatCount(of(queue)),
    align: 'right' as const,
    paint: (text: string, queue: QueueInfo) => (of(queue) === 0 ? colors.dim(text) : text),
  });
  return {
    empty: 'No queues.',
    columns: [
      { title: 'RUNNER', text: ({ runner }) => runner },
      {
        title: 'STATE',
        text: (queue) => statusText(state(queue)),
        paint: (text, queue) => paintStatus(state(queue), text, colors),
      },
      count('QUEUED', ({ queued }) => queued),
      count('DEFERRED', ({ deferred }) => deferred),
      count('HELD', ({ held }) => held),
      {
        title: 'OLDEST',
        text: ({ oldest_wait_s = 0 }) => (oldest_wait_s > 0 ? formatDuration(oldest_wait_s * 1000) : '—'),
        align: 'right',
      },
      count('RUNNING', ({ running }) => running),
      count('SLOTS', ({ slots = 0 }) => slots),
      {
        ...count('WORKERS', ({ workers }) => workers),
        paint: (text, { workers, queued }) => (workers === 0 && queued > 0 ? colors.red(text) : text),
      },
    ],
  };
};

const switchQueue = async (session: Session, action: 'pause' | 'resume', runner: QueueName): Promise<ExitCode> => {
  const client = await session.client();
  const queue = await client.queues[action](runner);
  const status = queue.paused ? 'paused' : 'open';
  if (session.json) await session.printJson(queue);
  else await session.out.line(`${formatStatus(status, session.out.colors)}  ${runner}`);
  return EXIT.success;
};
