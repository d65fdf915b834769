import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT } from '../exit-code.js';
import { formatHoldOutcome } from '../format/hold-outcome.js';

export const addReject: AddCommand = (program, cli) => {
  program
    .command('reject')
    .description('reject a held call')
    .argument('<id>', 'hld_…')
    .requiredOption('--comment <text>', 'why; it is kept with the hold')
    .action((id: string, { comment }: { comment: string }, command: Command) =>
      cli.run(command, async (session) => {
        const client = await session.client();
        const hold = await client.holds.reject(id, comment);
        if (session.json) await session.printJson(hold);
        else await session.out.line(formatHoldOutcome(hold, session.out.colors));
        return EXIT.success;
      }),
    );
};
