import type { Resolution } from '@capstan/contracts';
import type { Command } from 'commander';
import { actOnEach } from '../act-on-each.js';
import type { AddCommand } from '../cli.js';
import { statusLine } from '../format/status.js';
import { parseOutcome } from '../parse/words.js';

export const addResolve: AddCommand = (program, cli) => {
  program
    .command('resolve')
    .description('record how ambiguous invocations ended')
    .argument('<id...>', 'invocation ids (inv_…)')
    .requiredOption('--outcome <outcome>', 'succeeded or failed', parseOutcome)
    .requiredOption('--comment <text>', 'how you know, recorded with the result')
    .action((ids: string[], { outcome, comment }: Resolution, command: Command) =>
      cli.run(command, async (session) => {
        const client = await session.client();
        const act = (invocation_id: string) => client.resolve(invocation_id, { outcome, comment });
        return actOnEach(session, ids, act, statusLine(session.out.colors));
      }),
    );
};
