import type { InvocationQuery } from '@capstan/client';
import type { Invocation } from '@capstan/contracts';
import { actOnEach } from '../act-on-each.js';
import { actOnMany } from '../act-on-many.js';
import type { AddCommand } from '../cli.js';
import { addFilterOptions, readFilter } from '../parse/filter.js';

const UNFINISHED: InvocationQuery = { status: ['held', 'deferred', 'queued', 'running'] };

/** A running one ends when its worker has stopped it. */
const noteOf = ({ status }: Invocation): string => (status === 'running' ? 'is being stopped' : '');

export const addCancel: AddCommand = (program, cli) => {
  const command = program
    .command('cancel')
    .description('cancel invocations, also running ones, by id or by filter')
    .argument('[id...]', 'inv_…');
  addFilterOptions(command, cli.now)
    .option('--all', 'everything that has not ended')
    .action((ids: string[], { all = false }: { all?: boolean }) =>
      cli.run(command, async (session) => {
        const client = await session.client();
        if (ids.length > 0) return actOnEach(session, ids, client.cancel, noteOf);
        const filter = readFilter(command);
        return actOnMany(session, { filter, everything: UNFINISHED, all, act: client.cancelMany, done: 'canceled' });
      }),
    );
};
