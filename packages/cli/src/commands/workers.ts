import type { RunningCall, WorkerInfo } from '@capstan/contracts';
import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';
import type { ExitCode } from '../exit-code.js';
import { relativeTime } from '../format/relative-time.js';
import { paintStatus, statusText } from '../format/status.js';
import type { Look } from '../print-items.js';
import type { Session } from '../session.js';
import { addWatch, printOrWatch } from '../watch-lines.js';

export const addWorkers: AddCommand = (program, cli) => {
  addWatch(program.command('workers'))
    .description('list workers and how busy they are')
    .action(({ watch = false }: { watch?: boolean }, command: Command) =>
      cli.run(command, (session) => printWorkers(session, watch)),
    );
};

const printWorkers = async (session: Session, watch: boolean): Promise<ExitCode> => {
  const client = await session.client();
  return printOrWatch(
    session,
    watch,
    () => client.workers.list(),
    () => lookOf(session),
  );
};

/** The call that has run longest, and how many others there are. Older gateways do not say. */
const runs = ([first]: readonly RunningCall[] = [], running: number): string =>
  first === undefined ? '' : `${first.tool_id} ${first.invocation_id}${running > 1 ? ` +${running - 1}` : ''}`;

const lookOf = (session: Session): Look<WorkerInfo> => {
  const { colors } = session.out;
  return {
    empty: 'No workers. Start one with `capstan worker --runner exec`.',
    columns: [
      { title: 'WORKER', text: ({ worker_id }) => worker_id, shrinks: true },
      {
        title: 'STATUS',
        text: ({ status }) => statusText(status),
        paint: (text, { status }) => paintStatus(status, text, colors),
      },
      { title: 'RUNNERS', text: ({ runners }) => runners.join(','), shrinks: true },
      { title: 'BUSY', text: ({ running, concurrency }) => `${running}/${concurrency}`, align: 'right' },
      { title: 'RUNS', text: ({ calls, running }) => runs(calls, running), shrinks: true },
      { title: 'HOST', text: ({ host, pid }) => `${host}:${pid}`, shrinks: true, drops: 2 },
      { title: 'UP SINCE', text: ({ started_at }) => relativeTime(started_at, session.now()), drops: 1 },
      { title: 'SEEN', text: ({ seen_at }) => relativeTime(seen_at, session.now()) },
    ],
  };
};
