import type { WorkerInfo } from '@capstan/contracts';
import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { relativeTime } from '../format/relative-time.js';
import { paintStatus, statusText } from '../format/status.js';
import { printItems } from '../print-items.js';
import type { Session } from '../session.js';

export const addWorkers: AddCommand = (program, cli) => {
  program
    .command('workers')
    .description('the workers and what they are busy with')
    .action((_options: object, command: Command) => cli.run(command, printWorkers));
};

const printWorkers = async (session: Session): Promise<ExitCode> => {
  const client = await session.client();
  const { colors } = session.out;
  await printItems<WorkerInfo>(session, client.workers.list(), {
    empty: 'No worker has been seen. Start one with `capstan worker --runner exec`.',
    columns: [
      { title: 'WORKER', text: ({ worker_id }) => worker_id, shrinks: true },
      {
        title: 'STATUS',
        text: ({ status }) => statusText(status),
        paint: (text, { status }) => paintStatus(status, text, colors),
      },
      { title: 'RUNNERS', text: ({ runners }) => runners.join(',') },
      { title: 'BUSY', text: ({ running, concurrency }) => `${running}/${concurrency}`, align: 'right' },
      { title: 'HOST', text: ({ host, pid }) => `${host}:${pid}` },
      { title: 'UP SINCE', text: ({ started_at }) => relativeTime(started_at, session.now()) },
      { title: 'SEEN', text: ({ seen_at }) => relativeTime(seen_at, session.now()) },
    ],
  });
  return EXIT.success;
};
