import type { Client, InvocationQuery } from '@capstan/client';
import type { Invocation, InvocationStatus, Run } from '@capstan/contracts';
import { actOnEach } from '../act-on-each.js';
import { actOnMany, type ManyOptions } from '../act-on-many.js';
import type { AddCommand } from '../cli.js';
import { statusLine } from '../format/status.js';
import { addFilterOptions, isEmptyFilter, readFilter } from '../parse/filter.js';
import { resolveRun } from '../resolve-id.js';

const UNFINISHED: InvocationStatus[] = ['held', 'deferred', 'queued', 'running'];

/** A running invocation ends once its worker has stopped it, and a run once all its invocations have ended. */
const noteOf = ({ status }: Invocation | Run): string =>
  status === 'running' || status === 'pending' || status === 'paused' ? 'is being canceled' : '';

export const addCancel: AddCommand = (program, cli) => {
  const command = program
    .command('cancel')
    .description('cancel invocations and runs, by id or by filter')
    .argument('[id...]', 'inv_… or run_…; canceling a run cancels its remaining steps');
  addFilterOptions(command, cli.now)
    .option('--all', 'cancel everything that has not ended')
    .option('-y, --yes', 'do not ask; required for filters without a terminal')
    .addHelpText(
      'after',
      `
Examples:
  $ capstan cancel run_V1StGXR8_Z5jdHi6B-myT
  $ capstan cancel --run run_V1StGXR8_Z5jdHi6B-myT --status held     # only the held steps
  $ capstan cancel --tool shell.run --status queued
  $ capstan cancel --all --yes`,
    )
    .action((ids: string[], { all = false, yes = false }: ManyOptions) =>
      cli.run(command, async (session) => {
        const client = await session.client();
        const filter = await readFilter(session, command);
        const named = ids.length > 0 ? ids : loneRunOf(filter);
        if (named.length > 0)
          return actOnEach(
            session,
            named,
            (id) => cancel(client, id),
            statusLine(session.out.colors, noteOf),
            resolveRun,
          );
        const words = { verb: 'cancel', done: 'canceled' };
        return actOnMany(session, { filter, statuses: UNFINISHED, all, yes, act: client.cancelMany, ...words });
      }),
    );
};

const cancel = (client: Client, id: string): Promise<Invocation | Run> =>
  id.startsWith('run_') ? client.runs.cancel(id) : client.cancel(id);

/** With --run as the only filter, the run itself is canceled: otherwise its plan would start more invocations. */
const loneRunOf = ({ run_id, ...others }: InvocationQuery): string[] =>
  run_id !== undefined && isEmptyFilter(others) ? [run_id] : [];
