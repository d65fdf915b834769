import type { Command } from 'commander';
import { actOnEach } from '../act-on-each.js';
import type { AddCommand } from '../cli.js';
import { formatHoldOutcome } from '../format/hold-outcome.js';

export const addReject: AddCommand = (program, cli) => {
  program
    .command('reject')
    .description('reject held calls')
    .argument('<id...>', 'hld_…')
    .requiredOption('--comment <text>', 'why; it is kept with each hold')
    .action((ids: string[], { comment }: { comment: string }, command: Command) =>
      cli.run(command, async (session) => {
        const { holds } = await session.client();
        const { colors } = session.out;
        return actOnEach(
          session,
          ids,
          (id) => holds.reject(id, comment),
          (hold) => formatHoldOutcome(hold, colors),
        );
      }),
    );
};
