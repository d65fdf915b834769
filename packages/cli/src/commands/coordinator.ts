import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';

export const addCoordinator: AddCommand = (program, cli) => {
  program
    .command('coordinator')
    .description('start a coordinator (needs DATABASE_URL)')
    .action((_options: object, command: Command) =>
      cli.serve(command, async () => {
        const { runCoordinator } = await import('@capstan/coordinator');
        await runCoordinator();
      }),
    );
};
