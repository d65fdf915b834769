import type { InvocationStatus } from '@capstan/contracts';
import { actOnEach } from '../act-on-each.js';
import { actOnMany, type ManyOptions } from '../act-on-many.js';
import type { AddCommand } from '../cli.js';
import { statusLine } from '../format/status.js';
import { addFilterOptions, readFilter } from '../parse/filter.js';

const REDRIVABLE: InvocationStatus[] = ['failed', 'timed_out', 'ambiguous'];

export const addRedrive: AddCommand = (program, cli) => {
  const command = program
    .command('redrive')
    .summary('run failed, timed-out or ambiguous invocations again')
    .description('run failed, timed-out or ambiguous invocations again, by id or by filter')
    .argument('[id...]', 'invocation ids (inv_…)');
  addFilterOptions(command, cli.now)
    .option('--all', 'redrive everything that can be redriven')
    .option('-y, --yes', 'do not ask; required for filters without a terminal')
    .action((ids: string[], { all = false, yes = false }: ManyOptions) =>
      cli.run(command, async (session) => {
        const client = await session.client();
        if (ids.length > 0) return actOnEach(session, ids, client.redrive, statusLine(session.out.colors));
        const filter = await readFilter(session, command);
        const words = { verb: 'redrive', done: 'queued again' };
        return actOnMany(session, { filter, statuses: REDRIVABLE, all, yes, act: client.redriveMany, ...words });
      }),
    );
};
