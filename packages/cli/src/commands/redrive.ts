import type { InvocationQuery } from '@capstan/client';
import { actOnEach } from '../act-on-each.js';
import { actOnMany } from '../act-on-many.js';
import type { AddCommand } from '../cli.js';
import { addFilterOptions, readFilter } from '../parse/filter.js';

const REDRIVABLE: InvocationQuery = { status: ['failed', 'timed_out', 'ambiguous'] };

export const addRedrive: AddCommand = (program, cli) => {
  const command = program
    .command('redrive')
    .description('run failed, timed-out or ambiguous invocations again, by id or by filter')
    .argument('[id...]', 'inv_…');
  addFilterOptions(command, cli.now)
    .option('--all', 'everything that can be redriven')
    .action((ids: string[], { all = false }: { all?: boolean }) =>
      cli.run(command, async (session) => {
        const client = await session.client();
        if (ids.length > 0) return actOnEach(session, ids, client.redrive);
        const filter = readFilter(command);
        const act = client.redriveMany;
        return actOnMany(session, { filter, everything: REDRIVABLE, all, act, done: 'queued again' });
      }),
    );
};
