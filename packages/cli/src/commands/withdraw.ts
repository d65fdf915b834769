import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT } from '../exit-code.js';
import { formatHoldOutcome } from '../format/hold-outcome.js';
import { resolveId } from '../resolve-id.js';

export const addWithdraw: AddCommand = (program, cli) => {
  program
    .command('withdraw')
    .description('withdraw your own held call')
    .argument('<id>', 'hold id (hld_…)')
    .option('--comment <text>', 'reason, recorded with the hold')
    .action((id: string, { comment }: { comment?: string }, command: Command) =>
      cli.run(command, async (session) => {
        const client = await session.client();
        const hold = await client.holds.withdraw(await resolveId(session, id), comment);
        if (session.json) await session.printJson(hold);
        else await session.out.line(formatHoldOutcome(hold, session.out.colors));
        return EXIT.success;
      }),
    );
};
